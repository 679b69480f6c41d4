package main

import (
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
)

// integers is a session of BGV, or of BFV: BGV with a product that does not depend on the scale.
type integers struct {
	invariant  bool
	parameters bgv.Parameters
	keys       keys
	encoder    *bgv.Encoder
	evaluator  *bgv.Evaluator
}

func newIntegers(r *request) (session, error) {
	parameters, err := bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN: logDegree(r.Degree), Q: r.Data, P: r.Special, LogQ: r.DataBits, LogP: r.SpecialBits,
		PlaintextModulus: r.PlainModulus,
	})
	if err != nil {
		return nil, err
	}
	made := newKeys(parameters.Parameters, r)
	made.newPlaintext = func() *rlwe.Plaintext { return bgv.NewPlaintext(parameters, parameters.MaxLevel()) }
	return &integers{
		invariant:  r.Scheme == "bfv",
		parameters: parameters,
		keys:       made,
		encoder:    bgv.NewEncoder(parameters),
		evaluator:  bgv.NewEvaluator(parameters, made.evaluation, r.Scheme == "bfv"),
	}, nil
}

// subject returns the measured operations' fixture. Rescaling is BGV's modulus switching; Lattigo has no counterpart
// for BFV.
func (s *integers) subject() *subject {
	slots := randomIntegers(s.parameters.MaxSlots(), s.parameters.N()/2, s.parameters.PlaintextModulus())
	return &subject{
		parameters: s.parameters.Parameters,
		keys:       &s.keys,
		evaluator:  s.evaluator,
		raw:        s.evaluator.Evaluator,
		encode: func(input int, plaintext *rlwe.Plaintext) error {
			return s.encoder.Encode(slots.inputs[input], plaintext)
		},
		decode:     func(plaintext *rlwe.Plaintext) error { return s.encoder.Decode(plaintext, slots.found) },
		rightSlots: slots.right,
		switches:   !s.invariant,
	}
}

func (s *integers) primes() (data, special []uint64) {
	return s.parameters.Q(), s.parameters.P()
}

// spread returns a full vector of slots: a constant of one value goes into every slot.
func (s *integers) spread(values []float64, constant bool) []int64 {
	slots := make([]int64, s.parameters.MaxSlots())
	for i := range slots {
		switch {
		case constant && len(values) == 1:
			slots[i] = int64(values[0])
		case i < len(values):
			slots[i] = int64(values[i])
		}
	}
	return slots
}

func (s *integers) encrypt(values []float64) (*rlwe.Ciphertext, error) {
	plaintext := bgv.NewPlaintext(s.parameters, s.parameters.MaxLevel())
	if err := s.encoder.Encode(s.spread(values, false), plaintext); err != nil {
		return nil, err
	}
	return s.keys.encryptor.EncryptNew(plaintext)
}

func (s *integers) decrypt(a *rlwe.Ciphertext) (any, error) {
	slots := make([]uint64, s.parameters.MaxSlots())
	err := s.encoder.Decode(s.keys.decryptor.DecryptNew(a), slots)
	return slots, err
}

func (s *integers) add(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	return s.evaluator.AddNew(a, b)
}

func (s *integers) subtract(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	return s.evaluator.SubNew(a, b)
}

func (s *integers) multiply(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	product, err := s.evaluator.MulRelinNew(a, b)
	return s.rescaled(product, err)
}

// plusConstant adds a single value in place, on a copy: AddNew and MulNew of v6.2.0 give a sum or product with a scalar
// the default scale instead of the operand's, and later sums of two scales are wrong.
func (s *integers) plusConstant(a *rlwe.Ciphertext, values []float64) (*rlwe.Ciphertext, error) {
	if len(values) == 1 {
		sum := a.CopyNew()
		return sum, s.evaluator.Add(sum, int64(values[0]), sum)
	}
	return s.evaluator.AddNew(a, s.spread(values, true))
}

func (s *integers) timesConstant(a *rlwe.Ciphertext, values []float64) (*rlwe.Ciphertext, error) {
	if len(values) == 1 {
		product := a.CopyNew()
		return product, s.evaluator.Mul(product, int64(values[0]), product)
	}
	product, err := s.evaluator.MulNew(a, s.spread(values, true))
	return s.rescaled(product, err)
}

// rescaled drops a prime after a product, as long as there is one, to bring the noise back to its level before the
// product (BFV drops none).
func (s *integers) rescaled(product *rlwe.Ciphertext, err error) (*rlwe.Ciphertext, error) {
	if err != nil || product.Level() == 0 {
		return product, err
	}
	return product, s.evaluator.Rescale(product, product)
}

func (s *integers) rotate(a *rlwe.Ciphertext, steps int) (*rlwe.Ciphertext, error) {
	return s.evaluator.RotateColumnsNew(a, steps)
}

func (s *integers) swapRows(a *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	return s.evaluator.RotateRowsNew(a)
}
