package main

import (
	"fmt"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// mistakes shows how Lattigo answers to five of them.
func mistakes() {
	params := must(newParameters())
	generator := rlwe.NewKeyGenerator(params)
	secret := generator.GenSecretKeyNew()
	relin := generator.GenRelinearizationKeyNew(secret)
	galois := generator.GenGaloisKeysNew(params.GaloisElements([]int{4}), secret)
	eval := ckks.NewEvaluator(params, rlwe.NewMemEvaluationKeySet(relin, galois...))
	encrypted := func(values []float64) *rlwe.Ciphertext {
		ciphertext := new(rlwe.Ciphertext)
		must(0, ciphertext.UnmarshalBinary(must(encrypt(params, secret, values))))
		return ciphertext
	}
	first := func(secret *rlwe.SecretKey, ciphertext *rlwe.Ciphertext) (float64, error) {
		bytes, err := ciphertext.MarshalBinary()
		if err != nil {
			return 0, err
		}
		return decrypt(params, secret, bytes)
	}
	attempt := func(name string, mistake func() (float64, error)) {
		defer func() {
			if refused := recover(); refused != nil {
				fmt.Printf("%s: panic: %v\n", name, refused)
			}
		}()
		if value, err := mistake(); err != nil {
			fmt.Printf("%s: error: %v\n", name, err)
		} else {
			fmt.Printf("%s: answers %.4g\n", name, value)
		}
	}
	powers := func(values []float64, squarings int) (float64, error) {
		x := encrypted(values)
		for range squarings {
			if err := eval.MulRelin(x, x, x); err != nil {
				return 0, err
			}
			if err := eval.Rescale(x, x); err != nil {
				return 0, err
			}
		}
		return first(secret, x)
	}
	attempt("a product too many", func() (float64, error) { return powers(x, 3) })
	attempt("a rotation without its key", func() (float64, error) {
		turned, err := eval.RotateNew(encrypted(x), 2)
		if err != nil {
			return 0, err
		}
		return first(secret, turned)
	})
	attempt("18.25² + 0.05 without aligning levels", func() (float64, error) {
		sum := encrypted(x)
		must(0, eval.MulRelin(sum, sum, sum))
		must(0, eval.Rescale(sum, sum))
		if err := eval.Add(sum, encrypted(w), sum); err != nil {
			return 0, err
		}
		return first(secret, sum)
	})
	attempt("1000⁴ = 1e12, beyond the last prime", func() (float64, error) {
		return powers([]float64{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}, 2)
	})
	attempt("another secret key, of 18.25", func() (float64, error) {
		return first(generator.GenSecretKeyNew(), encrypted(x))
	})
}
