package main

import (
	"errors"
	"math"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// reals is a session of CKKS. Each level has one scale, Δ² divided by the prime dropped last: any two ciphertexts at
// one level can be added, and a product rescaled once has the scale of the level below.
type reals struct {
	parameters ckks.Parameters
	keys       keys
	encoder    *ckks.Encoder
	evaluator  *ckks.Evaluator
	scales     []rlwe.Scale
}

func newReals(r *request) (session, error) {
	parameters, err := ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN: logDegree(r.Degree), Q: r.Data, P: r.Special, LogQ: r.DataBits, LogP: r.SpecialBits,
		LogDefaultScale: r.ScaleBits,
	})
	if err != nil {
		return nil, err
	}
	top := parameters.MaxLevel()
	scales := make([]rlwe.Scale, top+1)
	scales[top] = parameters.DefaultScale()
	for level := top; level > 0; level-- {
		scales[level-1] = scales[level].Mul(scales[level]).Div(rlwe.NewScale(parameters.Q()[level]))
	}
	made := newKeys(parameters.Parameters, r)
	made.newPlaintext = func() *rlwe.Plaintext { return ckks.NewPlaintext(parameters, parameters.MaxLevel()) }
	return &reals{
		parameters: parameters,
		keys:       made,
		encoder:    ckks.NewEncoder(parameters),
		evaluator:  ckks.NewEvaluator(parameters, made.evaluation),
		scales:     scales,
	}, nil
}

// subject returns the measured operations' fixture. Dropping a level only drops its prime.
func (s *reals) subject() *subject {
	slots := randomReals(s.parameters.MaxSlots())
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
		rescales:   true,
		drops:      true,
	}
}

func (s *reals) primes() (data, special []uint64) {
	return s.parameters.Q(), s.parameters.P()
}

// encode encodes slots at a level and scale; a constant of one value goes into every slot.
func (s *reals) encode(values []float64, constant bool, level int, scale rlwe.Scale) (*rlwe.Plaintext, error) {
	slots := make([]float64, s.parameters.MaxSlots())
	copy(slots, values)
	if constant && len(values) == 1 {
		for i := range slots {
			slots[i] = values[0]
		}
	}
	plaintext := ckks.NewPlaintext(s.parameters, level)
	plaintext.Scale = scale
	return plaintext, s.encoder.Encode(slots, plaintext)
}

func (s *reals) encrypt(values []float64) (*rlwe.Ciphertext, error) {
	top := s.parameters.MaxLevel()
	plaintext, err := s.encode(values, false, top, s.scales[top])
	if err != nil {
		return nil, err
	}
	return s.keys.encryptor.EncryptNew(plaintext)
}

func (s *reals) decrypt(a *rlwe.Ciphertext) (any, error) {
	slots := make([]float64, s.parameters.MaxSlots())
	err := s.encoder.Decode(s.keys.decryptor.DecryptNew(a), slots)
	return slots, err
}

// rescaled drops one prime and sets the level's scale, which removes the rounding of Lattigo's own floating-point
// scale.
func (s *reals) rescaled(product *rlwe.Ciphertext, err error) (*rlwe.Ciphertext, error) {
	if err != nil {
		return nil, err
	}
	if err := s.evaluator.Rescale(product, product); err != nil {
		return nil, err
	}
	product.Scale = s.scales[product.Level()]
	return product, nil
}

// lowered brings a ciphertext to a lower level and that level's scale, by a product with 1 at the level above.
func (s *reals) lowered(a *rlwe.Ciphertext, level int) (*rlwe.Ciphertext, error) {
	above := s.evaluator.DropLevelNew(a, a.Level()-level-1)
	scale := s.scales[level].Mul(rlwe.NewScale(s.parameters.Q()[level+1])).Div(a.Scale)
	one, err := s.encode([]float64{1}, true, level+1, scale)
	if err != nil {
		return nil, err
	}
	return s.rescaled(s.evaluator.MulNew(above, one))
}

func (s *reals) aligned(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, *rlwe.Ciphertext, error) {
	var err error
	if a.Level() > b.Level() {
		a, err = s.lowered(a, b.Level())
	} else if b.Level() > a.Level() {
		b, err = s.lowered(b, a.Level())
	}
	return a, b, err
}

func (s *reals) add(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	a, b, err := s.aligned(a, b)
	if err != nil {
		return nil, err
	}
	return s.evaluator.AddNew(a, b)
}

func (s *reals) subtract(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	a, b, err := s.aligned(a, b)
	if err != nil {
		return nil, err
	}
	return s.evaluator.SubNew(a, b)
}

func (s *reals) multiply(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	a, b, err := s.aligned(a, b)
	if err != nil {
		return nil, err
	}
	return s.rescaled(s.evaluator.MulRelinNew(a, b))
}

func (s *reals) plusConstant(a *rlwe.Ciphertext, values []float64) (*rlwe.Ciphertext, error) {
	plaintext, err := s.encode(values, true, a.Level(), a.Scale)
	if err != nil {
		return nil, err
	}
	return s.evaluator.AddNew(a, plaintext)
}

func (s *reals) timesConstant(a *rlwe.Ciphertext, values []float64) (*rlwe.Ciphertext, error) {
	if len(values) == 1 && values[0] == math.Trunc(values[0]) && math.Abs(values[0]) <= 1<<31 {
		return s.evaluator.MulNew(a, int64(values[0]))
	}
	if a.Level() == 0 {
		return nil, errors.New("no level is left for a product with a constant")
	}
	plaintext, err := s.encode(values, true, a.Level(), s.scales[a.Level()])
	if err != nil {
		return nil, err
	}
	return s.rescaled(s.evaluator.MulNew(a, plaintext))
}

func (s *reals) rotate(a *rlwe.Ciphertext, steps int) (*rlwe.Ciphertext, error) {
	return s.evaluator.RotateNew(a, steps)
}

func (s *reals) swapRows(a *rlwe.Ciphertext) (*rlwe.Ciphertext, error) {
	return s.evaluator.ConjugateNew(a)
}
