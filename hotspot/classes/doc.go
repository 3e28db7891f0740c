// Package classes lists the classes that a running JVM has loaded, and their methods, out of its memory: nothing in the
// JVM runs or changes for it.
//
//	found, err := classes.Read(vm, func(class string) bool { return strings.HasPrefix(class, "org/acme/") })
//
// HotSpot has a list of class loaders (ClassLoaderDataGraph), each of these a list of its classes (Klass), and each class
// an array of its methods. Classes are loaded and unloaded while the lists are read, so what was unloaded meanwhile may be
// missing or have damaged names; HotSpot frees the memory of a class loader at once, and of a single class never.
//
// JDK 8's tables have no classes of a class loader. There the system dictionary has them: a hash table.
package classes
