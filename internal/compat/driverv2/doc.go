// Package driverv2 does everyday work through version 2 of the Go driver against the server whose
// connection string is in MRBENCH_COMPAT_URI:
//
//	MRBENCH_COMPAT_URI="mongodb://127.0.0.1:27018/?compressors=zstd" go test ./...
//
// It is a module of its own because mrbench itself uses the driver's version 1, which reaches older servers.
package driverv2
