package collect

// FindDTrace gives the path of the dtrace program that StartDTrace runs.
func FindDTrace() (string, error) { return findDTrace("/usr/sbin/dtrace") }
