// Lattigo as an engine: BGV, BFV (its scale-invariant BGV) and CKKS. PROTOCOL.md describes the protocol.
//
// To install it by hand: go build -o engine .
// To try it: echo '{"do":"version"}' | ./engine
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

var errUnsupported = errors.New("unsupported")

// request holds the fields of every command.
type request struct {
	Do           string      `json:"do"`
	Scheme       string      `json:"scheme"`
	Degree       int         `json:"degree"`
	PlainModulus uint64      `json:"plain_modulus"`
	ScaleBits    int         `json:"scale_bits"`
	Data         []uint64    `json:"data"`
	Special      []uint64    `json:"special"`
	DataBits     []int       `json:"data_bits"`
	SpecialBits  []int       `json:"special_bits"`
	Rotations    []int       `json:"rotations"`
	SwapRows     bool        `json:"swap_rows"`
	Inputs       [][]float64 `json:"inputs"`
	Program      program     `json:"program"`
	Operation    string      `json:"operation"`
	Repetitions  int         `json:"repetitions"`
	WarmUp       int         `json:"warm_up"`
	Checked      bool        `json:"checked"`
	Codec        string      `json:"codec"`
	Object       string      `json:"object"`
	Method       string      `json:"method"`
	Readings     []float64   `json:"readings"`
	Range        [2]float64  `json:"range"`
	Limit        float64     `json:"limit"`
	Gap          float64     `json:"gap"`
	Tolerance    float64     `json:"tolerance"`
	Least        int         `json:"least"`
	Most         int         `json:"most"`
	Seconds      float64     `json:"seconds"`
}

// engine keeps the last prepared session.
type engine struct {
	prepared session
	subject  *subject
}

func (e *engine) answer(line []byte) (reply any, err error) {
	// Lattigo panics on parameters or operands that it does not expect.
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("Lattigo panicked: %v", cause)
		}
	}()
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	switch r.Do {
	case "version":
		return map[string]any{"engine": "lattigo", "library": "Lattigo", "version": version(),
			"schemes": []string{"bfv", "bgv", "ckks"}, "comparisons": []string{"sign"}, "flags": flags(),
			"threads": 1}, nil
	case "compare":
		return compare(&r)
	case "prepare":
		e.subject = nil
		if e.prepared, err = prepare(&r); err != nil {
			return nil, err
		}
		data, special := e.prepared.primes()
		// Lattigo states no security.
		return map[string]any{"data": data, "special": special, "log2_q": log2(data), "limbs": len(data),
			"special_limbs": len(special), "security": nil}, nil
	case "verify", "measure":
		if e.prepared == nil {
			return nil, errors.New("nothing is prepared: send prepare first")
		}
		if r.Do == "measure" {
			return e.measure(&r)
		}
		outputs, err := evaluate(e.prepared, &r.Program, r.Inputs)
		return map[string]any{"outputs": outputs}, err
	}
	return nil, errUnsupported
}

// measure makes the inputs at its first call.
func (e *engine) measure(r *request) (any, error) {
	if e.subject == nil {
		subject := e.prepared.subject()
		if err := subject.prepare(); err != nil {
			return nil, err
		}
		e.subject = subject
	}
	return e.subject.measure(r)
}

func prepare(r *request) (session, error) {
	switch r.Scheme {
	case "bgv", "bfv":
		return newIntegers(r)
	case "ckks":
		return newReals(r)
	}
	return nil, errUnsupported
}

// version returns the version of the linked Lattigo.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/tuneinsight/lattigo/v6" {
				return module.Version
			}
		}
	}
	return "unknown"
}

// flags returns Go's build settings. Lattigo has no vector code.
func flags() string {
	settings := []string{runtime.Version(), runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "GOAMD64" || setting.Key == "GOARM64" {
				settings = append(settings, setting.Value)
			}
		}
	}
	return strings.Join(settings, " ") + ", no vector code"
}

func log2(primes []uint64) (sum float64) {
	for _, prime := range primes {
		sum += math.Log2(float64(prime))
	}
	return sum
}

func main() {
	e := &engine{}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	replies := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(replies)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		reply, err := e.answer(line)
		if err != nil {
			reply = map[string]string{"error": err.Error()}
		}
		if encoder.Encode(reply) != nil || replies.Flush() != nil {
			return
		}
	}
}
