//go:build !linux

package gasmtest

// ProtectTmp does nothing: these settings are Linux's.
func ProtectTmp() {}
