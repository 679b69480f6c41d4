package main

import (
	"errors"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

type program struct {
	Nodes   []node `json:"nodes"`
	Outputs []int  `json:"outputs"`
}

type node struct {
	Op     string    `json:"op"`
	Index  int       `json:"index"`
	Values []float64 `json:"values"`
	A      int       `json:"a"`
	B      int       `json:"b"`
	Steps  int       `json:"steps"`
}

// session is a scheme with parameters and keys. Constants are passed as the values in the request.
type session interface {
	primes() (data, special []uint64)
	subject() *subject
	encrypt(values []float64) (*rlwe.Ciphertext, error)
	decrypt(a *rlwe.Ciphertext) (any, error)
	add(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error)
	subtract(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error)
	multiply(a, b *rlwe.Ciphertext) (*rlwe.Ciphertext, error)
	plusConstant(a *rlwe.Ciphertext, values []float64) (*rlwe.Ciphertext, error)
	timesConstant(a *rlwe.Ciphertext, values []float64) (*rlwe.Ciphertext, error)
	rotate(a *rlwe.Ciphertext, steps int) (*rlwe.Ciphertext, error)
	swapRows(a *rlwe.Ciphertext) (*rlwe.Ciphertext, error)
}

// value is a ciphertext, or the values of a constant.
type value struct {
	ciphertext *rlwe.Ciphertext
	constant   []float64
}

// evaluate returns the slots of every output.
func evaluate(s session, p *program, inputs [][]float64) ([]any, error) {
	values := make([]value, 0, len(p.Nodes))
	for _, n := range p.Nodes {
		if n.Op == "constant" {
			values = append(values, value{constant: n.Values})
			continue
		}
		result, err := run(s, n, values, inputs)
		if err != nil {
			return nil, err
		}
		values = append(values, value{ciphertext: result})
	}
	outputs := make([]any, 0, len(p.Outputs))
	for _, output := range p.Outputs {
		slots, err := s.decrypt(values[output].ciphertext)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, slots)
	}
	return outputs, nil
}

func run(s session, n node, values []value, inputs [][]float64) (*rlwe.Ciphertext, error) {
	if n.Op == "input" {
		return s.encrypt(inputs[n.Index])
	}
	a, b := values[n.A], values[n.B]
	switch n.Op {
	case "neg":
		return s.timesConstant(a.ciphertext, []float64{-1})
	case "rotate":
		return s.rotate(a.ciphertext, n.Steps)
	case "swap_rows":
		return s.swapRows(a.ciphertext)
	case "add", "sub", "mul":
		if a.ciphertext == nil && b.ciphertext == nil {
			return nil, errors.New("arithmetic on constants alone")
		}
		return pair(s, n.Op, a, b)
	}
	return nil, errUnsupported
}

// pair runs a sum, difference or product; one operand may be a constant.
func pair(s session, op string, a, b value) (*rlwe.Ciphertext, error) {
	if a.ciphertext == nil {
		if op == "sub" {
			// c − x is −x + c; sum and product commute.
			negated, err := s.timesConstant(b.ciphertext, []float64{-1})
			if err != nil {
				return nil, err
			}
			return s.plusConstant(negated, a.constant)
		}
		a, b = b, a
	}
	constant := b.ciphertext == nil
	switch {
	case op == "add" && constant:
		return s.plusConstant(a.ciphertext, b.constant)
	case op == "sub" && constant:
		negated := make([]float64, len(b.constant))
		for i, v := range b.constant {
			negated[i] = -v
		}
		return s.plusConstant(a.ciphertext, negated)
	case op == "mul" && constant:
		return s.timesConstant(a.ciphertext, b.constant)
	case op == "add":
		return s.add(a.ciphertext, b.ciphertext)
	case op == "sub":
		return s.subtract(a.ciphertext, b.ciphertext)
	}
	return s.multiply(a.ciphertext, b.ciphertext)
}
