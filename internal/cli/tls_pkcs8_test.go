package cli

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"testing"
)

// lockedKey is an encrypted key of PKCS #8, as openssl writes it by default: PBES2 with PBKDF2, HMAC of SHA-256 and AES-256-CBC.
type lockedKey struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// lockedClient writes a client's certificate and its key, encrypted as PKCS #8, to one file.
func (a *authority) lockedClient(name, password string) string {
	a.t.Helper()
	raw, key := a.signClient(name)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	const iterations = 2048
	salt, iv := make([]byte, 16), make([]byte, aes.BlockSize)
	_, _ = rand.Read(salt)
	_, _ = rand.Read(iv)
	derived, err := pbkdf2.Key(sha256.New, password, salt, iterations, 32)
	if err != nil {
		a.t.Fatal(err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		a.t.Fatal(err)
	}
	fill := aes.BlockSize - len(der)%aes.BlockSize
	for range fill {
		der = append(der, byte(fill))
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(der, der)
	encode := func(v any) asn1.RawValue {
		b, err := asn1.Marshal(v)
		if err != nil {
			a.t.Fatal(err)
		}
		return asn1.RawValue{FullBytes: b}
	}
	hash := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}, Parameters: asn1.NullRawValue}
	derivation := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}, Parameters: encode(struct {
		Salt       []byte
		Iterations int
		Hash       pkix.AlgorithmIdentifier
	}{salt, iterations, hash})}
	scheme := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}, Parameters: encode(iv)}
	both := encode(struct{ Derivation, Scheme pkix.AlgorithmIdentifier }{derivation, scheme})
	locked := encode(lockedKey{pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}, Parameters: both}, der})
	return a.write(name+".pem", &pem.Block{Type: "CERTIFICATE", Bytes: raw}, &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: locked.FullBytes})
}

// olderKey is one that is encrypted in a way which the driver does not know, by MD5 and DES.
func olderKey(t *testing.T) *pem.Block {
	t.Helper()
	b, err := asn1.Marshal(lockedKey{pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 3}, Parameters: asn1.NullRawValue}, make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return &pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: b}
}
