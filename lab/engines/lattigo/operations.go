package main

import (
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring/ringqp"
)

// operation returns the requested operation.
func (s *subject) operation(r *request) (*operation, error) {
	e, p := s.evaluator, s.parameters
	a, b, plain := s.ciphertexts[0], s.ciphertexts[1], s.plaintexts[1]
	switch r.Operation {
	case "add":
		return s.gives("x+y", 1, func(out *rlwe.Ciphertext) error { return e.Add(a, b, out) })
	case "add_in_place":
		var own *rlwe.Ciphertext
		return &operation{
			before: func() { own = a.CopyNew() },
			run:    func() error { return e.Add(own, b, own) },
			right:  func() (bool, error) { return s.decrypts(own, "x+y") },
		}, nil
	case "subtract":
		return s.gives("x-y", 1, func(out *rlwe.Ciphertext) error { return e.Sub(a, b, out) })
	case "add_plain":
		return s.gives("x+y", 1, func(out *rlwe.Ciphertext) error { return e.Add(a, plain, out) })
	case "encode_add_plain":
		own := s.newPlaintext()
		return s.gives("x+y", 1, func(out *rlwe.Ciphertext) error {
			if err := s.encode(1, own); err != nil {
				return err
			}
			return e.Add(a, own, out)
		})
	case "multiply_plain":
		return s.gives("x*y", 1, func(out *rlwe.Ciphertext) error { return e.Mul(a, plain, out) })
	case "multiply":
		return s.gives("x*y", 2, func(out *rlwe.Ciphertext) error { return e.Mul(a, b, out) })
	case "square":
		return s.gives("x*x", 2, func(out *rlwe.Ciphertext) error { return e.Mul(a, a, out) })
	case "modswitch", "rescale":
		return s.dropping(r.Operation)
	}
	if p.PCount() > 0 {
		switch r.Operation {
		case "multiply_relin":
			return s.gives("x*y", 1, func(out *rlwe.Ciphertext) error { return e.MulRelin(a, b, out) })
		case "rotate":
			raw := s.raw.WithKey(s.keys.rotationByOne())
			return s.gives("rotated", 1, func(out *rlwe.Ciphertext) error {
				return raw.Automorphism(a, p.GaloisElement(1), out)
			})
		case "rotate_hoisted":
			return s.hoisted(a)
		case "switch_keys":
			return s.fromAnotherKey()
		}
	}
	return s.making(r)
}

// fromAnotherKey returns the switch of a ciphertext under another secret key to this one.
func (s *subject) fromAnotherKey() (*operation, error) {
	k := s.keys
	other := k.generator.GenSecretKeyNew()
	key := k.generator.GenEvaluationKeyNew(other, k.secret)
	under := s.newCiphertext(1)
	if err := rlwe.NewEncryptor(k.parameters, other).Encrypt(s.plaintexts[0], under); err != nil {
		return nil, err
	}
	return s.gives("x", 1, func(out *rlwe.Ciphertext) error { return s.raw.ApplyEvaluationKey(under, key, out) })
}

// dropping returns an operation that drops the last prime.
func (s *subject) dropping(name string) (*operation, error) {
	a, top := s.ciphertexts[0], s.parameters.MaxLevel()
	switch {
	case top == 0:
	case name == "rescale" && s.rescales:
		product := s.newCiphertext(1)
		if err := s.evaluator.Mul(a, s.plaintexts[1], product); err != nil {
			return nil, err
		}
		return s.gives("x*y", 1, func(out *rlwe.Ciphertext) error {
			out.Resize(1, top)
			return s.evaluator.Rescale(product, out)
		})
	case name == "modswitch" && s.switches:
		return s.gives("x", 1, func(out *rlwe.Ciphertext) error {
			out.Resize(1, top)
			return s.evaluator.Rescale(a, out)
		})
	case name == "modswitch" && s.drops:
		var dropped *rlwe.Ciphertext
		return &operation{
			run: func() error {
				dropped = a.CopyNew()
				dropped.Resize(1, top-1)
				return nil
			},
			right: func() (bool, error) { return s.decrypts(dropped, "x") },
		}, nil
	}
	return nil, errUnsupported
}

// hoisted returns a rotation of a ciphertext that was decomposed before, outside the time.
func (s *subject) hoisted(a *rlwe.Ciphertext) (*operation, error) {
	p, level := s.parameters, s.parameters.MaxLevel()
	digits := make([]ringqp.Poly, p.BaseRNSDecompositionVectorSize(level, p.MaxLevelP()))
	for i := range digits {
		digits[i] = p.RingQP().NewPoly()
	}
	s.raw.DecomposeNTT(level, p.MaxLevelP(), p.PCount(), a.Value[1], a.IsNTT, digits)
	raw := s.raw.WithKey(s.keys.rotationByOne())
	return s.gives("rotated", 1, func(out *rlwe.Ciphertext) error {
		return raw.AutomorphismHoisted(level, a, digits, p.GaloisElement(1), out)
	})
}
