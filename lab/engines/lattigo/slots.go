package main

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// The largest error of a real that counts as correct.
const closeEnough = 1e-2

// source returns the index of the input slot that a result's slot is made of: the same slot, or its right neighbour in
// the row.
func source(expected string, slot, columns int) int {
	if expected != "rotated" {
		return slot
	}
	return slot - slot%columns + (slot%columns+1)%columns
}

// integerSlots holds two inputs modulo t, and the last decoded slots.
type integerSlots struct {
	inputs  [2][]uint64
	found   []uint64
	modulus uint64
	columns int
}

func randomIntegers(slots, columns int, modulus uint64) *integerSlots {
	s := &integerSlots{found: make([]uint64, slots), modulus: modulus, columns: columns}
	for input := range s.inputs {
		s.inputs[input] = make([]uint64, slots)
		for slot := range s.inputs[input] {
			s.inputs[input][slot] = rand.Uint64N(modulus)
		}
	}
	return s
}

func (s *integerSlots) right(expected string) bool {
	for slot, found := range s.found {
		at := source(expected, slot, s.columns)
		if found != s.one(expected, s.inputs[0][at], s.inputs[1][at]) {
			return false
		}
	}
	return true
}

func (s *integerSlots) one(expected string, x, y uint64) uint64 {
	product := func(x, y uint64) uint64 {
		high, low := bits.Mul64(x, y)
		return bits.Rem64(high, low, s.modulus)
	}
	switch expected {
	case "x+y":
		return (x + y) % s.modulus
	case "x-y":
		return (x + s.modulus - y) % s.modulus
	case "x*y":
		return product(x, y)
	case "x*x":
		return product(x, x)
	}
	return x
}

// realSlots holds two inputs in −1 … 1, and the last decoded slots.
type realSlots struct {
	inputs  [2][]float64
	found   []float64
	columns int
}

func randomReals(slots int) *realSlots {
	s := &realSlots{found: make([]float64, slots), columns: slots}
	for input := range s.inputs {
		s.inputs[input] = make([]float64, slots)
		for slot := range s.inputs[input] {
			s.inputs[input][slot] = 2*rand.Float64() - 1
		}
	}
	return s
}

func (s *realSlots) right(expected string) bool {
	for slot, found := range s.found {
		at := source(expected, slot, s.columns)
		x, y := s.inputs[0][at], s.inputs[1][at]
		want := map[string]float64{"x+y": x + y, "x-y": x - y, "x*y": x * y, "x*x": x * x, "x": x, "rotated": x}[expected]
		if !(math.Abs(found-want) < closeEnough) {
			return false
		}
	}
	return true
}
