// Package wire frames MongoDB's wire protocol.
package wire
