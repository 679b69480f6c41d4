package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/comparison"
	"github.com/tuneinsight/lattigo/v6/circuits/ckks/minimax"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/ring"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
	"github.com/tuneinsight/lattigo/v6/utils/bignum"
)

// signs lists degrees of composite minimax polynomials: values at least 2^-alpha from 0 have their sign within `within`.
// Of all compositions of degrees 7, 15 and 31 with this result, these take the fewest levels.
var signs = []struct {
	alpha   int
	within  float64
	degrees []int
}{
	{8, 0.07, []int{7, 7, 15}},
	{9, 0.06, []int{7, 15, 15}},
	{13, 0.10, []int{7, 15, 15, 15}},
}

const (
	// The smallest n whose limit of 128 bits has room for the levels of every composition.
	comparisonLogN = 15
	// log2 of the scale; the first prime is longer, for answers of up to 2^9.
	comparisonScale = 40
	comparisonFirst = 50
	// Special primes: of 1, 3, 4 and 6 the fastest number on one core.
	comparisonSpecial       = 3
	comparisonSpecialLength = 46
	// Bits of the floating-point numbers that the polynomials are computed with.
	remezPrecision = 128
)

// noBootstrapping lets comparisons run on the levels of a fresh ciphertext alone.
type noBootstrapping struct{}

var errLevels = errors.New("no level is left, and there is no bootstrapping")

func (noBootstrapping) Bootstrap(*rlwe.Ciphertext) (*rlwe.Ciphertext, error) { return nil, errLevels }

func (noBootstrapping) BootstrapMany([]rlwe.Ciphertext) ([]rlwe.Ciphertext, error) {
	return nil, errLevels
}
func (noBootstrapping) Depth() int             { return 0 }
func (noBootstrapping) MinimumInputLevel() int { return 0 }
func (noBootstrapping) OutputLevel() int       { return 0 }

// composition returns the polynomials for readings at least `gap` from the limit, for differences in −1 … 1.
func composition(gap, tolerance float64) (minimax.Polynomial, int, error) {
	for _, sign := range signs {
		if math.Exp2(-float64(sign.alpha)) > gap || sign.within/2 > tolerance {
			continue
		}
		coefficients := minimax.GenMinimaxCompositePolynomial(
			remezPrecision, sign.alpha, sign.alpha+4, sign.degrees, bignum.Sign)
		written := make([][]string, len(coefficients))
		depth := 0
		for i := range coefficients {
			for _, coefficient := range coefficients[i] {
				written[i] = append(written[i], coefficient.Text('g', 30))
			}
		}
		polynomials := minimax.NewPolynomial(written)
		for i := range polynomials {
			depth += polynomials[i].Depth()
		}
		return polynomials, depth, nil
	}
	return nil, 0, errUnsupported
}

// compare runs Lattigo's comparison package: the step function by composite minimax polynomials. The ring of real
// numbers (conjugate-invariant) has a reading in each of n slots.
func compare(r *request) (any, error) {
	if r.Method != "sign" {
		return nil, errUnsupported
	}
	limit, gap := r.Limit, r.Gap
	if gap == 0 {
		limit, gap = limit+0.5, 0.5
	}
	width := r.Range[1] - r.Range[0]
	polynomials, depth, err := quietly(func() (minimax.Polynomial, int, error) {
		return composition(gap/width, r.Tolerance)
	})
	if err != nil {
		return nil, err
	}
	literal := ckks.ParametersLiteral{LogN: comparisonLogN, LogQ: []int{comparisonFirst},
		LogDefaultScale: comparisonScale, RingType: ring.ConjugateInvariant}
	for range depth {
		literal.LogQ = append(literal.LogQ, comparisonScale)
	}
	for range comparisonSpecial {
		literal.LogP = append(literal.LogP, comparisonSpecialLength)
	}
	parameters, err := ckks.NewParametersFromLiteral(literal)
	if err != nil {
		return nil, err
	}
	generator := rlwe.NewKeyGenerator(parameters)
	secret := generator.GenSecretKeyNew()
	keys := rlwe.NewMemEvaluationKeySet(generator.GenRelinearizationKeyNew(secret))
	evaluator := ckks.NewEvaluator(parameters, keys)
	comparer := comparison.NewEvaluator(parameters,
		minimax.NewEvaluator(parameters, evaluator, noBootstrapping{}), polynomials)
	encryptor, decryptor := rlwe.NewEncryptor(parameters, secret), rlwe.NewDecryptor(parameters, secret)
	encoder := ckks.NewEncoder(parameters)
	batch := parameters.MaxSlots()

	var answers, microseconds, processor []float64
	var sent, answered int
	var spent time.Duration
	enough := time.Duration(r.Seconds * float64(time.Second))
	for i := 0; i < r.Most && (i < r.Least || spent < enough); i++ {
		slots := make([]float64, batch)
		for slot := range slots {
			// Differences divided by the range are in −1 … 1.
			slots[slot] = (r.Readings[(i*batch+slot)%len(r.Readings)] - r.Range[0]) / width
		}
		plaintext := ckks.NewPlaintext(parameters, parameters.MaxLevel())
		if err := encoder.Encode(slots, plaintext); err != nil {
			return nil, err
		}
		readings, err := encryptor.EncryptNew(plaintext)
		if err != nil {
			return nil, err
		}
		begin, busy := time.Now(), processorTime()
		difference, err := evaluator.SubNew(readings, (limit-r.Range[0])/width)
		if err != nil {
			return nil, err
		}
		answer, err := comparer.Step(difference)
		if err != nil {
			return nil, err
		}
		elapsed := time.Since(begin)
		processor = append(processor, float64((processorTime()-busy).Nanoseconds())/1e3)
		spent += elapsed
		microseconds = append(microseconds, float64(elapsed.Nanoseconds())/1e3)
		sent, answered = readings.BinarySize(), answer.BinarySize()
		if len(answers) < len(r.Readings) {
			found := make([]float64, batch)
			if err := encoder.Decode(decryptor.DecryptNew(answer), found); err != nil {
				return nil, err
			}
			answers = append(answers, found...)
		}
	}
	return map[string]any{
		"scheme": "ckks", "n": parameters.N(), "batch": batch, "exact": false, "security": nil,
		"log2_qp": parameters.LogQP(), "microseconds": microseconds, "processor": processor,
		"answers": answers[:min(len(answers), len(r.Readings))],
		"parameters": fmt.Sprintf("real slots, depth %d, scale 2^%d, %d special primes, log2 QP = %.0f",
			depth, comparisonScale, comparisonSpecial, parameters.LogQP()),
		"bytes_readings": sent, "bytes_answer": answered, "bytes_keys": keys.BinarySize(),
	}, nil
}

// processorTime returns the time that the process was on a processor.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// quietly keeps the computation of polynomials, which prints its progress, from standard output, which only replies may
// reach.
func quietly(make func() (minimax.Polynomial, int, error)) (minimax.Polynomial, int, error) {
	replies := os.Stdout
	defer func() { os.Stdout = replies }()
	os.Stdout = os.Stderr
	return make()
}
