package main

import (
	"encoding"
	"errors"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// subject is a session as operations need it. Results go where the last one went, as in Lattigo's own benches.
type subject struct {
	parameters rlwe.Parameters
	keys       *keys
	evaluator  arithmetic
	// raw is the part of the evaluator that knows no scheme.
	raw *rlwe.Evaluator
	// encode puts the first or second input where it is told.
	encode func(input int, plaintext *rlwe.Plaintext) error
	// decode takes slots out and keeps them for rightSlots.
	decode     func(plaintext *rlwe.Plaintext) error
	rightSlots func(expected string) bool
	// rescales says that Rescale divides scale and message; switches that it leaves the message; drops that a level can be
	// left out.
	rescales, switches, drops bool

	plaintexts  [2]*rlwe.Plaintext
	ciphertexts [2]*rlwe.Ciphertext
}

// arithmetic is what the evaluators of all schemes have.
type arithmetic interface {
	Add(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Sub(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Mul(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	MulRelin(a *rlwe.Ciphertext, b rlwe.Operand, out *rlwe.Ciphertext) error
	Rescale(a, out *rlwe.Ciphertext) error
}

// operation is timed by run; right says whether what it made is right; before makes its operand outside the time.
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

// newPlaintext has the scheme's metadata, which only the session knows how to make.
func (s *subject) newPlaintext() *rlwe.Plaintext {
	return s.keys.newPlaintext()
}

func (s *subject) newCiphertext(degree int) *rlwe.Ciphertext {
	ciphertext := rlwe.NewCiphertext(s.parameters, degree, s.parameters.MaxLevel())
	*ciphertext.MetaData = *s.plaintexts[0].MetaData
	return ciphertext
}

// decrypts says whether a ciphertext says what is expected.
func (s *subject) decrypts(ciphertext *rlwe.Ciphertext, expected string) (bool, error) {
	err := s.decode(s.keys.decryptor.DecryptNew(ciphertext))
	return err == nil && s.rightSlots(expected), err
}

// gives is an operation that writes to a ciphertext of this degree.
func (s *subject) gives(expected string, degree int, run func(out *rlwe.Ciphertext) error) (*operation, error) {
	out := s.newCiphertext(degree)
	return &operation{
		run:   func() error { return run(out) },
		right: func() (bool, error) { return s.decrypts(out, expected) },
	}, nil
}

// marshalled is an object that can be written.
type marshalled interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// stored is serialising or parsing of objects; right looks at what was parsed.
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
