package nmethod

import "fmt"

// className returns the name of a class as HotSpot prints it. Each name is read only once.
func (c *Copier) className(klass uint64) (string, error) {
	if name, ok := c.classes[klass]; ok {
		return name, nil
	}
	symbol, err := c.vm.Uint64(klass + c.layout.className)
	if err != nil {
		return "", err
	}
	internal, err := c.symbol(symbol)
	if err != nil {
		return "", err
	}
	name := externalName(internal)
	if c.layout.hasAnonymous {
		flags, err := c.vm.Uint64(klass + c.layout.classMiscFlags)
		if err != nil {
			return "", err
		}
		if flags&isAnonymous != 0 {
			name += fmt.Sprintf("/%#016x", klass) // InstanceKlass::external_name
		}
	}
	c.classes[klass] = name
	return name, nil
}

// isAnonymous is _misc_is_anonymous of JDK 11's instanceKlass.hpp: the class was made by Unsafe.defineAnonymousClass.
const isAnonymous = 1 << 5
