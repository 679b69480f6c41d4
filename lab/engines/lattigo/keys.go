package main

import (
	"math/bits"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// keys holds the keys, which all schemes make in the same way.
type keys struct {
	parameters   rlwe.Parameters
	generator    *rlwe.KeyGenerator
	secret       *rlwe.SecretKey
	public       *rlwe.PublicKey
	encryptor    *rlwe.Encryptor
	symmetric    *rlwe.Encryptor
	decryptor    *rlwe.Decryptor
	evaluation   rlwe.EvaluationKeySet
	newPlaintext func() *rlwe.Plaintext
}

// newKeys makes the relinearisation key, the Galois keys of the requested rotations, and that of the row swap if it is
// requested.
func newKeys(parameters rlwe.Parameters, r *request) keys {
	generator := rlwe.NewKeyGenerator(parameters)
	secret, public := generator.GenKeyPairNew()
	made := keys{
		parameters: parameters,
		generator:  generator,
		secret:     secret,
		public:     public,
		encryptor:  rlwe.NewEncryptor(parameters, public),
		symmetric:  rlwe.NewEncryptor(parameters, secret),
		decryptor:  rlwe.NewDecryptor(parameters, secret),
	}
	if parameters.PCount() == 0 {
		made.evaluation = rlwe.NewMemEvaluationKeySet(nil)
		return made
	}
	var elements []uint64
	for _, steps := range r.Rotations {
		elements = append(elements, parameters.GaloisElement(steps))
	}
	if r.SwapRows {
		elements = append(elements, parameters.GaloisElementOrderTwoOrthogonalSubgroup())
	}
	galois := generator.GenGaloisKeysNew(elements, secret)
	made.evaluation = rlwe.NewMemEvaluationKeySet(generator.GenRelinearizationKeyNew(secret), galois...)
	return made
}

// rotationByOne makes a set with the key of the rotation by one.
func (k *keys) rotationByOne() rlwe.EvaluationKeySet {
	return rlwe.NewMemEvaluationKeySet(nil, k.generator.GenGaloisKeyNew(k.parameters.GaloisElement(1), k.secret))
}

func logDegree(degree int) int {
	return bits.Len(uint(degree)) - 1
}
