package main

import (
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// making returns an operation that makes keys, plaintexts or ciphertexts, or that writes or parses bytes.
func (s *subject) making(r *request) (*operation, error) {
	k, plain := s.keys, s.plaintexts[0]
	switch r.Operation {
	case "keygen":
		var secret *rlwe.SecretKey
		var public *rlwe.PublicKey
		return &operation{
			run:   func() error { secret, public = k.generator.GenKeyPairNew(); return nil },
			right: func() (bool, error) { return s.fits(secret, public) },
		}, nil
	case "relin_keys":
		var key *rlwe.RelinearizationKey
		return s.switching(&operation{
			run:   func() error { key = k.generator.GenRelinearizationKeyNew(k.secret); return nil },
			right: func() (bool, error) { return s.relinearises(key) },
		})
	case "galois_keys":
		var made []*rlwe.GaloisKey
		return s.switching(&operation{
			run: func() error {
				made = k.generator.GenGaloisKeysNew(s.powersOfTwo(), k.secret)
				return nil
			},
			right: func() (bool, error) { return s.rotates(made) },
		})
	case "encode":
		out := s.newPlaintext()
		return &operation{
			run:   func() error { return s.encode(0, out) },
			right: func() (bool, error) { err := s.decode(out); return s.rightSlots("x"), err },
		}, nil
	case "decode":
		opened := k.decryptor.DecryptNew(s.ciphertexts[0])
		return &operation{
			run:   func() error { return s.decode(opened) },
			right: func() (bool, error) { return s.rightSlots("x"), nil },
		}, nil
	case "decrypt", "decrypt_decode":
		out := s.newPlaintext()
		return &operation{
			run: func() error {
				k.decryptor.Decrypt(s.ciphertexts[0], out)
				if r.Operation == "decrypt" {
					return nil
				}
				return s.decode(out)
			},
			right: func() (bool, error) { err := s.decode(out); return s.rightSlots("x"), err },
		}, nil
	case "encrypt_public", "encrypt_secret":
		encryptor := k.encryptor
		if r.Operation == "encrypt_secret" {
			encryptor = k.symmetric
		}
		return s.gives("x", 1, func(out *rlwe.Ciphertext) error { return encryptor.Encrypt(plain, out) })
	case "encode_encrypt_public", "encode_encrypt_secret":
		encryptor, own := k.encryptor, s.newPlaintext()
		if r.Operation == "encode_encrypt_secret" {
			encryptor = k.symmetric
		}
		return s.gives("x", 1, func(out *rlwe.Ciphertext) error {
			if err := s.encode(0, own); err != nil {
				return err
			}
			return encryptor.Encrypt(own, out)
		})
	case "serialise", "parse":
		if r.Codec == "" || r.Codec == "none" {
			return s.bytes(r)
		}
	}
	return nil, errUnsupported
}

// bytes returns the writing or parsing of an object.
func (s *subject) bytes(r *request) (*operation, error) {
	parse, k := r.Operation == "parse", s.keys
	one := func(object, empty marshalled, right func() (bool, error)) (*operation, error) {
		return stored(parse, []marshalled{object}, []marshalled{empty}, right)
	}
	switch r.Object {
	case "", "ciphertext":
		empty := &rlwe.Ciphertext{}
		return one(s.ciphertexts[0], empty, func() (bool, error) { return s.decrypts(empty, "x") })
	case "plaintext":
		empty := &rlwe.Plaintext{}
		return one(s.plaintexts[0], empty, func() (bool, error) {
			err := s.decode(empty)
			return s.rightSlots("x"), err
		})
	case "public_key":
		empty := &rlwe.PublicKey{}
		return one(k.public, empty, func() (bool, error) { return s.fits(k.secret, empty) })
	case "secret_key":
		empty := &rlwe.SecretKey{}
		return one(k.secret, empty, func() (bool, error) { return s.fits(empty, k.public) })
	}
	if s.parameters.PCount() == 0 {
		return nil, errUnsupported
	}
	switch r.Object {
	case "relin_keys":
		empty := &rlwe.RelinearizationKey{}
		made := k.generator.GenRelinearizationKeyNew(k.secret)
		return one(made, empty, func() (bool, error) { return s.relinearises(empty) })
	case "galois_keys":
		made := k.generator.GenGaloisKeysNew(s.powersOfTwo(), k.secret)
		empty := make([]*rlwe.GaloisKey, len(made))
		var objects, empties []marshalled
		for i := range made {
			empty[i] = &rlwe.GaloisKey{}
			objects, empties = append(objects, made[i]), append(empties, empty[i])
		}
		return stored(parse, objects, empties, func() (bool, error) { return s.rotates(empty) })
	}
	return nil, errUnsupported
}

// switching returns the operation, or an error without special primes, which the operation needs.
func (s *subject) switching(o *operation) (*operation, error) {
	if s.parameters.PCount() == 0 {
		return nil, errUnsupported
	}
	return o, nil
}

// powersOfTwo returns the Galois elements of rotations by powers of two in both directions and of the row swap, without
// duplicates.
func (s *subject) powersOfTwo() (elements []uint64) {
	columns := s.parameters.N() / 2
	seen := map[uint64]bool{}
	for step := 1; step < columns; step *= 2 {
		for _, element := range s.parameters.GaloisElements([]int{step, -step}) {
			if !seen[element] {
				seen[element] = true
				elements = append(elements, element)
			}
		}
	}
	return append(elements, s.parameters.GaloisElementOrderTwoOrthogonalSubgroup())
}

// fits returns true if a secret and a public key belong together.
func (s *subject) fits(secret *rlwe.SecretKey, public *rlwe.PublicKey) (bool, error) {
	encrypted, err := rlwe.NewEncryptor(s.parameters, public).EncryptNew(s.plaintexts[0])
	if err != nil {
		return false, err
	}
	err = s.decode(rlwe.NewDecryptor(s.parameters, secret).DecryptNew(encrypted))
	return s.rightSlots("x"), err
}

// relinearises returns true if the key relinearises a product correctly.
func (s *subject) relinearises(key *rlwe.RelinearizationKey) (bool, error) {
	product, out := s.newCiphertext(2), s.newCiphertext(1)
	if err := s.evaluator.Mul(s.ciphertexts[0], s.ciphertexts[1], product); err != nil {
		return false, err
	}
	if err := s.raw.WithKey(rlwe.NewMemEvaluationKeySet(key)).Relinearize(product, out); err != nil {
		return false, err
	}
	return s.decrypts(out, "x*y")
}

// rotates returns true if the key of the rotation by one is among these keys and correct.
func (s *subject) rotates(made []*rlwe.GaloisKey) (bool, error) {
	out := s.newCiphertext(1)
	raw := s.raw.WithKey(rlwe.NewMemEvaluationKeySet(nil, made...))
	if err := raw.Automorphism(s.ciphertexts[0], s.parameters.GaloisElement(1), out); err != nil {
		return false, err
	}
	return s.decrypts(out, "rotated")
}
