// Package classes finds out which classes a running JVM has loaded, and which methods they have, by reading the JVM's
// memory. It runs no code in the JVM and changes nothing in it.
//
//	found, err := classes.Read(vm, func(class string) bool { return strings.HasPrefix(class, "org/acme/") })
//
// HotSpot has a list of class loaders (ClassLoaderDataGraph). Each loader has a list of its classes (Klass), and each
// class an array of its methods. The JVM may load and unload classes while the lists are read. A class that is unloaded
// meanwhile may be missing or have a damaged name. HotSpot frees the memory of a class loader as a whole, and never
// that of a single class.
//
// In JDK 8, HotSpot's tables do not have the classes of a class loader. There the classes are read from the system
// dictionary, a hash table.
package classes
