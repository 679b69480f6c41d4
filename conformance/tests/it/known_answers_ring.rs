//! kernels, ring and the encoders of rlwe against the known answers of `spec/`.

use sotto_conformance::vectors::{
    self, ChainCase, ConversionCase, DivideCase, EmbeddingCase, GaloisCase, NttCase, SeedCase, assert_limbs,
    poly,
};
use sotto_ring::{
    Coeff, Complex, Conversion, Division, Eval, GaloisMap, Kernels, Modulus, NttTable, Poly, Ring, Rounding,
    Scratch, Target, primes,
};
use sotto_rlwe::{Bfv, Bgv, Ckks, DefaultChain, ParameterSpec, Params, Scheme, SchemeId};

fn modulus(value: u64) -> Modulus {
    Modulus::new(value).unwrap()
}

fn moduli(values: &[u64]) -> Vec<Modulus> {
    values.iter().map(|m| modulus(*m)).collect()
}

#[test]
fn ntt() {
    for case in vectors::cases::<NttCase>("ntt") {
        let table = NttTable::new(modulus(case.modulus), case.degree).unwrap();
        assert_eq!(table.root(), case.root, "root modulo {}", case.modulus);
        for kernels in Kernels::available() {
            let mut values = case.input.clone();
            (kernels.ntt_forward)(&table, &mut values);
            assert_eq!(values, case.output, "{}: forward modulo {}", kernels.name, case.modulus);
            (kernels.ntt_inverse)(&table, &mut values);
            assert_eq!(values, case.input, "{}: inverse modulo {}", kernels.name, case.modulus);
        }
    }
}

#[test]
fn default_chains() {
    let cases = vectors::cases::<ChainCase>("chains");
    for case in &cases {
        let schemes = match case.scheme.as_str() {
            "bgv-bfv" => &[SchemeId::Bgv, SchemeId::Bfv][..],
            "ckks" => &[SchemeId::Ckks],
            other => panic!("a chain of {other}"),
        };
        for scheme in schemes {
            let what = format!("{scheme}, n = {}", case.degree);
            let chain = DefaultChain::all(*scheme).iter().find(|c| c.degree == case.degree).expect(&what);
            let repeated = |(bits, count)| vec![bits; count];
            assert_eq!(repeated(chain.special), case.special_bits, "{what}: special bits");
            assert_eq!([vec![chain.first], repeated(chain.others)].concat(), case.data_bits, "{what}: bits");
            let spec = DefaultChain::spec(*scheme, case.degree, 65537).unwrap();
            assert_eq!(spec.special, case.special, "{what}: special primes");
            assert_eq!(spec.data, case.data, "{what}: data primes");
            assert_eq!(spec.digit_primes, case.special.len().max(1), "{what}: primes a digit");
            assert_eq!(spec.plain, case.scale_bits.unwrap_or(65537), "{what}: log2 Δ or t");
            if let Some(scales) = &case.scales_log2 {
                let params = Params::<Ckks>::new(spec).unwrap();
                assert_eq!(scales.len(), params.top_level() + 1);
                for (level, expected) in scales.iter().enumerate() {
                    let found = params.scale(level).log2();
                    assert!((found - expected).abs() < 1e-13, "{what}: log2 of scale {level} is {found}");
                }
            }
        }
    }
    let defined = |scheme| DefaultChain::all(scheme).len();
    assert_eq!(cases.len(), defined(SchemeId::Bfv) + defined(SchemeId::Ckks), "every chain is here");
}

#[test]
fn conversion() {
    for case in vectors::cases::<ConversionCase>("conversion") {
        let conversion = Conversion::new(&moduli(&case.from), &moduli(&case.to));
        assert_eq!(case.to.len(), case.output.len());
        for kernels in Kernels::available() {
            let quotients =
                conversion.prepare(&kernels, case.input.iter().map(Vec::as_slice), &mut Scratch::new());
            for (target, expected) in case.output.iter().enumerate() {
                let mut out = vec![0; expected.len()];
                conversion.write(&kernels, &quotients, target, &mut out);
                let (from, to) = (&case.from, case.to[target]);
                assert_eq!(&out, expected, "{}: from {from:?} to {to}", kernels.name);
            }
        }
    }
}

#[test]
fn division() {
    for case in vectors::cases::<DivideCase>("divide") {
        let (count, first) = (case.primes.len(), case.dropped[0]);
        let dropped = first..first + case.dropped.len();
        assert!(dropped.clone().eq(case.dropped.iter().copied()), "dropped primes are neighbours");
        let kept = if first == 0 { dropped.end..count } else { 0..first };
        assert_eq!(kept.len() + dropped.len(), count, "dropped primes are at an end");
        let rounding = match (case.rounding.as_str(), case.plain_modulus) {
            ("Nearest", None) => Rounding::Nearest,
            ("CongruentMod", Some(t)) => Rounding::CongruentMod(modulus(t)),
            other => panic!("rounding {other:?}"),
        };
        for target in Target::available() {
            let ring = Ring::with_target(case.input[0].len(), &case.primes, &target).unwrap();
            let division = Division::new(&ring, dropped.clone(), kept.clone(), rounding).unwrap();
            let input: Poly<Coeff> = poly(&ring, ring.all_limbs(), &case.input);
            let what = format!("{}: {rounding:?} of {:?} without {dropped:?}", target.name(), case.primes);
            assert_limbs(&what, &division.apply(&input), &case.output);
            let evaluated = division.apply(&input.into_eval()).into_coeff();
            assert_limbs(&format!("{what}, in Eval form"), &evaluated, &case.output);
        }
    }
}

/// Applies the rule of the conventions to the bytes of the two streams, as far as the bytes reach.
fn residues_of_streams(streams: &[Vec<u8>; 2], modulus: &Modulus) -> Vec<u64> {
    let width = modulus.bits().div_ceil(8) as usize;
    let word = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..width].copy_from_slice(bytes);
        u64::from_le_bytes(wide) & (u64::MAX >> (64 - modulus.bits()))
    };
    let mut redrawn = streams[1].chunks_exact(width).map(word).filter(|x| *x < modulus.value());
    let drawn = streams[0].chunks_exact(width).map(word);
    drawn.map_while(|x| if x < modulus.value() { Some(x) } else { redrawn.next() }).collect()
}

#[test]
fn seeds() {
    for case in vectors::cases::<SeedCase>("seed") {
        let expand = |modulus: &Modulus| {
            let mut out = vec![0; case.degree];
            case.seed.expand_limb(case.domain, case.limb, modulus, &mut out);
            out
        };
        assert_eq!(expand(&modulus(case.modulus)), case.residues, "residues modulo {}", case.modulus);
        // Moduli of 48 bits take six whole bytes a residue: 2^48 − 1 shows every byte of the first stream, and
        // 2^47 + 1 redraws half of its words from the second.
        for modulus in moduli(&[case.modulus, (1 << 48) - 1, (1 << 47) + 1]) {
            let first = residues_of_streams(&case.streams, &modulus);
            assert!(first.len() >= 4, "the streams reach for {} residues", first.len());
            assert_eq!(expand(&modulus)[..first.len()], first, "from the streams, modulo {modulus:?}");
        }
    }
}

#[test]
fn galois() {
    for case in vectors::cases::<GaloisCase>("galois") {
        let (n, g) = (case.degree, case.galois_element);
        let element = match case.step {
            Some(step) => GaloisMap::rotation_element(n, step),
            None => Some(GaloisMap::swap_element(n)),
        };
        assert_eq!(element, Some(g), "n = {n}, step {:?}", case.step);
        let map = GaloisMap::new(n, g).unwrap();
        assert_eq!(map.element(), g);
        assert_eq!(map.map(), case.permutation, "n = {n}, g = {g}");
        for target in Target::available() {
            let ring = Ring::with_target(n, &[case.modulus], &target).unwrap();
            let coefficients = |limb: &[u64]| poly::<Coeff>(&ring, 0..1, &[limb.to_vec()]);
            let input: Poly<Eval> = coefficients(&case.input).into_eval();
            assert_limbs("input", &input, std::slice::from_ref(&case.input_evaluated));
            let output = map.apply(&input);
            assert_limbs("output", &output, std::slice::from_ref(&case.output_evaluated));
            assert_limbs("output, Coeff", &output.into_coeff(), std::slice::from_ref(&case.output));
        }
    }
}

fn encoding_params<S: Scheme>(degree: usize, plain: u64) -> Params<S> {
    let data = primes::below(1 << 60, degree).take(1).collect();
    let spec = ParameterSpec { scheme: S::ID, degree, special: Vec::new(), data, digit_primes: 1, plain };
    Params::insecure(spec).unwrap()
}

fn batching<S: Scheme<Value = i64>>() {
    for case in vectors::encode().batching {
        let (n, t) = (case.degree, modulus(case.plain_modulus));
        let what = format!("{}, n = {n}, t = {}", S::ID, t.value());
        let params = encoding_params::<S>(n, t.value());
        assert_eq!(S::slot_shape(&params), Some((2, n / 2)), "{what}");
        let table = NttTable::new(t, n).unwrap();
        assert_eq!(table.root(), case.root, "{what}: root");
        let residues = |values: &[i64]| values.iter().map(|c| t.from_signed(*c)).collect::<Vec<u64>>();
        // Slots in [0, t) and centred slots encode alike.
        let plain: Vec<i64> = case.slots.iter().map(|v| *v as i64).collect();
        let centred: Vec<i64> = case.slots.iter().map(|v| t.centre(*v)).collect();
        for slots in [&plain, &centred] {
            let plaintext = S::encode_slots(&params, slots, 0).unwrap();
            assert_eq!(residues(plaintext.coefficients()), case.coefficients, "{what}: coefficients");
            assert!(
                plaintext.coefficients().iter().all(|c| t.centre(t.from_signed(*c)) == *c),
                "{what}: centred"
            );
            assert_eq!(S::decode_slots(&params, &plaintext).unwrap(), centred, "{what}: decoded");
        }
        for (slot, place) in case.slot_indices.iter().enumerate() {
            let mut unit = vec![0; n];
            unit[slot] = 1;
            let mut values = residues(S::encode_slots(&params, &unit, 0).unwrap().coefficients());
            (Kernels::SCALAR.ntt_forward)(&table, &mut values);
            let sits_at: Vec<usize> = (0..n).filter(|i| values[*i] != 0).collect();
            assert_eq!((sits_at, values[*place]), (vec![*place], 1), "{what}: slot {slot}");
        }
    }
}

#[test]
fn batching_of_bfv_and_bgv() {
    batching::<Bfv>();
    batching::<Bgv>();
}

#[test]
fn embedding_of_ckks() {
    for EmbeddingCase { degree, scale_bits, slots, coefficients } in vectors::encode().embedding {
        let params = encoding_params::<Ckks>(degree, scale_bits);
        let plaintext = Ckks::encode_slots(&params, &slots, 0).unwrap();
        assert_eq!(plaintext.coefficients(), coefficients, "n = {degree}, Δ = 2^{scale_bits}");
        let rounding = degree as f64 / 2.0 / params.scale(0);
        for (found, expected) in Ckks::decode_slots(&params, &plaintext).unwrap().iter().zip(&slots) {
            assert!((found - expected).abs() <= rounding, "n = {degree}: slot is {found}, not {expected}");
        }
    }
}

#[test]
fn complex_slots() {
    for case in vectors::encode().complex {
        let params = encoding_params::<Ckks>(case.degree, case.scale_bits);
        let slots: Vec<Complex> = case.slots.iter().map(|(re, im)| Complex { re: *re, im: *im }).collect();
        let plaintext = params.encode_complex(&slots, 0).unwrap();
        assert_eq!(plaintext.coefficients(), case.coefficients, "n = {}", case.degree);
        let rounding = case.degree as f64 / 2.0 / params.scale(0);
        for (found, expected) in params.decode_complex(&plaintext).iter().zip(&slots) {
            assert!((*found - *expected).absolute() <= rounding);
        }
    }
}
