// Command side-by-side computes a weighted sum of squares of eight encrypted readings with Lattigo.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"time"
)

var (
	x = []float64{18.25, 19.5, 20.75, 21.0, 22.4, 23.85, -3.1, 20.0}
	w = []float64{0.05, 0.1, 0.15, 0.2, 0.2, 0.15, 0.1, 0.05}
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "mistakes" {
		mistakes()
		return
	}
	start := time.Now()
	params := must(newParameters())
	secret, public, err := keys(params)
	must(0, err)
	keysMade := time.Since(start).Seconds()
	start = time.Now()
	sentX, sentW := must(encrypt(params, secret, x)), must(encrypt(params, secret, w))
	encrypted := time.Since(start).Seconds()
	start = time.Now()
	answer := must(compute(must(newParameters()), public, sentX, sentW))
	computed := time.Since(start).Seconds()
	start = time.Now()
	found := must(decrypt(params, secret, answer))
	decrypted := time.Since(start).Seconds()
	exact := 0.0
	for i := range x {
		exact += w[i] * (x[i] - 20) * (x[i] - 20)
	}
	fmt.Printf("bytes   keys %d, x %d, w %d, answer %d\n", len(public), len(sentX), len(sentW), len(answer))
	fmt.Printf("seconds keys %.4f, encrypt %.4f, cloud %.4f, decrypt %.4f\n", keysMade, encrypted, computed, decrypted)
	fmt.Printf("answer  %.6f, exact %.6f, error %.1e\n", found, exact, math.Abs(found-exact))
}
