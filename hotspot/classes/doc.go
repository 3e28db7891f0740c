// Package classes finds out which classes a running JVM has loaded, and which methods these classes have. It only reads
// the JVM's memory: it runs no code in the JVM and changes nothing there.
//
//	found, err := classes.Read(vm, func(class string) bool { return strings.HasPrefix(class, "org/acme/") })
//
// HotSpot has a list of class loaders (ClassLoaderDataGraph). Each loader has a list of its classes (Klass), and each
// class an array of its methods. The JVM may load and unload classes while the lists are read. A class that is unloaded
// meanwhile may be missing from the result or have a damaged name. The same then holds for all classes of its class
// loader, because HotSpot only unloads whole class loaders.
//
// In JDK 8, HotSpot's tables do not say where a class loader has its list of classes. So for JDK 8 the classes are read
// from the system dictionary, a hash table.
package classes
