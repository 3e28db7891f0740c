package collect

// FindDTrace returns the path of the dtrace program that StartDTrace runs.
func FindDTrace() (string, error) { return findDTrace("/usr/sbin/dtrace") }
