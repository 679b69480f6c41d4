package main

import (
	"encoding"
	"errors"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// subject is the fixture of measured operations. A result overwrites the previous one, as in Lattigo's own benchmarks.
type subject struct {
	parameters rlwe.Parameters
	keys       *keys
	evaluator  arithmetic
	// raw is the scheme-independent part of the evaluator.
	raw *rlwe.Evaluator
	// encode encodes the first or second input into the plaintext.
	encode func(input int, plaintext *rlwe.Plaintext) error
	// decode decodes a plaintext and keeps the slots for rightSlots.
	decode     func(plaintext *rlwe.Plaintext) error
	rightSlots func(expected string) bool
	// rescales: Rescale divides scale and message. switches: Rescale divides the ciphertext and keeps the message.
	// drops: a level can be dropped without arithmetic.
	rescales, switches, drops bool

	plaintexts  [2]*rlwe.Plaintext
	ciphertexts [2]*rlwe.Ciphertext
}

// arithmetic is the common interface of the schemes' evaluators.
type arithmetic interface {
	Add(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Sub(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Mul(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	MulRelin(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Rescale(a, out *rlwe.Ciphertext) error
}

// operation is a measured operation: before makes its operand, untimed; run is timed; right checks the result.
type operation struct {
	before func()
	run    func() error
	right  func() (bool, error)
	bytes  func() int
}

type measured struct {
	Microseconds []float64 `json:"microseconds"`
	Bytes        *int      `json:"bytes"`
	Verified     bool      `json:"verified"`
}

func (s *subject) measure(r *request) (*measured, error) {
	o, err := s.operation(r)
	if err != nil {
		return nil, err
	}
	step := func() (float64, error) {
		if o.before != nil {
			o.before()
		}
		begin := time.Now()
		err := o.run()
		return float64(time.Since(begin).Nanoseconds()) / 1000, err
	}
	if !r.Checked {
		if _, err := step(); err != nil {
			return nil, err
		}
		if right, err := o.right(); err != nil || !right {
			return nil, errors.Join(err, errors.New("the result is wrong"))
		}
	}
	result := &measured{Microseconds: []float64{}, Verified: true}
	for repetition := 0; repetition < r.WarmUp+r.Repetitions; repetition++ {
		taken, err := step()
		if err != nil {
			return nil, err
		}
		if repetition >= r.WarmUp {
			result.Microseconds = append(result.Microseconds, taken)
		}
	}
	if o.bytes != nil {
		size := o.bytes()
		result.Bytes = &size
	}
	return result, nil
}

// prepare makes the inputs.
func (s *subject) prepare() error {
	for input := range s.plaintexts {
		s.plaintexts[input] = s.newPlaintext()
		if err := s.encode(input, s.plaintexts[input]); err != nil {
			return err
		}
		encrypted, err := s.keys.encryptor.EncryptNew(s.plaintexts[input])
		if err != nil {
			return err
		}
		s.ciphertexts[input] = encrypted
	}
	return nil
}

// newPlaintext makes a plaintext with the scheme's metadata, which only the session knows.
func (s *subject) newPlaintext() *rlwe.Plaintext {
	return s.keys.newPlaintext()
}

func (s *subject) newCiphertext(degree int) *rlwe.Ciphertext {
	ciphertext := rlwe.NewCiphertext(s.parameters, degree, s.parameters.MaxLevel())
	*ciphertext.MetaData = *s.plaintexts[0].MetaData
	return ciphertext
}

// decrypts returns true if a ciphertext decrypts to the expected slots.
func (s *subject) decrypts(ciphertext *rlwe.Ciphertext, expected string) (bool, error) {
	err := s.decode(s.keys.decryptor.DecryptNew(ciphertext))
	return err == nil && s.rightSlots(expected), err
}

// gives returns an operation that writes to a ciphertext of this degree.
func (s *subject) gives(expected string, degree int, run func(out *rlwe.Ciphertext) error) (*operation, error) {
	out := s.newCiphertext(degree)
	return &operation{
		run:   func() error { return run(out) },
		right: func() (bool, error) { return s.decrypts(out, expected) },
	}, nil
}

// marshalled is an object with a binary form.
type marshalled interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// stored returns the writing or parsing of objects; right checks the parsed objects.
func stored(parse bool, objects, empty []marshalled, right func() (bool, error)) (*operation, error) {
	written := make([][]byte, len(objects))
	write := func() (err error) {
		for i, object := range objects {
			if written[i], err = object.MarshalBinary(); err != nil {
				return err
			}
		}
		return nil
	}
	read := func() error {
		for i, object := range empty {
			if err := object.UnmarshalBinary(written[i]); err != nil {
				return err
			}
		}
		return nil
	}
	o := &operation{run: write, bytes: func() (total int) {
		for _, bytes := range written {
			total += len(bytes)
		}
		return total
	}}
	o.right = func() (bool, error) {
		if err := read(); err != nil {
			return false, err
		}
		return right()
	}
	if parse {
		if err := write(); err != nil {
			return nil, err
		}
		o.run, o.right = read, right
	}
	return o, nil
}
