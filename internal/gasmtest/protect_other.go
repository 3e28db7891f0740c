//go:build !linux

package gasmtest

// ProtectTmp does nothing: only Linux has these settings.
func ProtectTmp() {}
