// [program
package main

import (
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

func newParameters() (ckks.Parameters, error) {
	return ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN: 13, LogQ: []int{55, 45, 45}, LogP: []int{61}, LogDefaultScale: 45,
	})
}

// keys: the owner makes keys, and sends the public ones.
func keys(params ckks.Parameters) (*rlwe.SecretKey, []byte, error) {
	generator := rlwe.NewKeyGenerator(params)
	secret := generator.GenSecretKeyNew()
	relin := generator.GenRelinearizationKeyNew(secret)
	galois := generator.GenGaloisKeysNew(params.GaloisElementsForInnerSum(1, 8), secret)
	public, err := rlwe.NewMemEvaluationKeySet(relin, galois...).MarshalBinary()
	return secret, public, err
}

// encrypt: the device encrypts.
func encrypt(params ckks.Parameters, secret *rlwe.SecretKey, values []float64) ([]byte, error) {
	plain := ckks.NewPlaintext(params, params.MaxLevel())
	if err := ckks.NewEncoder(params).Encode(values, plain); err != nil {
		return nil, err
	}
	encrypted, err := rlwe.NewEncryptor(params, secret).EncryptNew(plain)
	if err != nil {
		return nil, err
	}
	return encrypted.MarshalBinary()
}

// compute: the cloud computes.
func compute(params ckks.Parameters, public, sentX, sentW []byte) ([]byte, error) {
	keys, x, w := new(rlwe.MemEvaluationKeySet), new(rlwe.Ciphertext), new(rlwe.Ciphertext)
	if err := keys.UnmarshalBinary(public); err != nil {
		return nil, err
	}
	if err := x.UnmarshalBinary(sentX); err != nil {
		return nil, err
	}
	if err := w.UnmarshalBinary(sentW); err != nil {
		return nil, err
	}
	eval := ckks.NewEvaluator(params, keys)
	if err := eval.Sub(x, 20.0, x); err != nil {
		return nil, err
	}
	for _, factor := range []*rlwe.Ciphertext{x, w} {
		if err := eval.MulRelin(x, factor, x); err != nil {
			return nil, err
		}
		if err := eval.Rescale(x, x); err != nil {
			return nil, err
		}
	}
	if err := eval.InnerSum(x, 1, 8, x); err != nil {
		return nil, err
	}
	return x.MarshalBinary()
}

// decrypt: the owner decrypts.
func decrypt(params ckks.Parameters, secret *rlwe.SecretKey, answer []byte) (float64, error) {
	encrypted, values := new(rlwe.Ciphertext), make([]float64, 8)
	if err := encrypted.UnmarshalBinary(answer); err != nil {
		return 0, err
	}
	plain := rlwe.NewDecryptor(params, secret).DecryptNew(encrypted)
	err := ckks.NewEncoder(params).Decode(plain, values)
	return values[0], err
}

// program]
