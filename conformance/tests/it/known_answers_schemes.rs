//! BFV, BGV and CKKS against the known answers of `spec/`: every key, every ciphertext and every step between them.

use core::ops::Range;

use serde::de::DeserializeOwned;
use sotto_conformance::vectors::{
    self, CiphertextAnswer, KeySwitchAnswer, Limbs, PairAnswer, SchemeCase, assert_limbs, poly,
};
use sotto_decrypt::{DecryptError, Decryptor};
use sotto_keys::SecretKey;
use sotto_ring::{
    Coeff, Conversion, Division, Eval, GaloisMap, Poly, Ring, Rounding, Scratch, Seed, SmallPoly,
};
use sotto_rlwe::{
    Bfv, Bgv, Ciphertext, Ckks, EvaluationKeys, Evaluator, KeyId, KeySwitchKey, Log2, ParameterSpec, Params,
    Plaintext, ScalePower, Scheme, SchemeId, intermediates,
};

/// Messages and slots of a scheme, and their comparison with the file.
trait Answers: Scheme<Value: DeserializeOwned> {
    /// Converts the file's coefficients to those of a plaintext: centred modulo t in exact schemes, unchanged in CKKS.
    fn held(params: &Params<Self>, message: &[i64]) -> Vec<i64>;
    /// Compares slots with those that the spec decrypts.
    fn check_slots(params: &Params<Self>, what: &str, found: &[Self::Value], expected: &[Self::Value]);
    /// Decrypts and decodes a ciphertext.
    fn slots(story: &Story<Self>, what: &str, ciphertext: &Ciphertext<Self>) -> Vec<Self::Value>;
}

macro_rules! exact {
    ($($scheme:ty),*) => {$(
        impl Answers for $scheme {
            fn held(params: &Params<Self>, message: &[i64]) -> Vec<i64> {
                let t = sotto_ring::Modulus::new(params.plain_modulus()).unwrap();
                message.iter().map(|m| t.centre(t.from_signed(*m))).collect()
            }
            fn check_slots(params: &Params<Self>, what: &str, found: &[i64], expected: &[i64]) {
                assert_eq!(found, Self::held(params, expected), "{what}: slots");
            }
            fn slots(story: &Story<Self>, what: &str, ciphertext: &Ciphertext<Self>) -> Vec<i64> {
                Decryptor::new(&story.secret).slots(ciphertext).expect(what).into_residues()
            }
        }
    )*};
}
exact!(Bfv, Bgv);

impl Answers for Ckks {
    fn held(_params: &Params<Self>, message: &[i64]) -> Vec<i64> {
        message.to_vec()
    }

    fn check_slots(_params: &Params<Self>, what: &str, found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{what}: slots");
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            // The spec rounds to six places.
            assert!((found - expected).abs() < 5.001e-7, "{what}: slot {i} is {found}, not {expected}");
        }
    }

    fn slots(story: &Story<Self>, what: &str, ciphertext: &Ciphertext<Self>) -> Vec<f64> {
        match Decryptor::new(&story.secret).slots(ciphertext) {
            Ok(slots) => slots.raw_values_for_owner_only().to_vec(),
            Err(DecryptError::TooLarge { .. }) => story.slots_of_large_product(ciphertext),
            Err(other) => panic!("{what}: {other}"),
        }
    }
}

/// The secret key of a case, and the computations with it.
struct Story<S: Scheme> {
    params: Params<S>,
    secret: SecretKey<S>,
}

fn small(coefficients: &[i64]) -> SmallPoly {
    SmallPoly::from_coefficients(coefficients.to_vec())
}

impl<S: Answers> Story<S> {
    fn new(case: &SchemeCase<S::Value>) -> Self {
        let spec = ParameterSpec {
            scheme: S::ID,
            degree: case.degree,
            special: case.special.clone(),
            data: case.data.clone(),
            digit_primes: case.special.len().max(1),
            plain: case.plain_modulus.or(case.scale_bits).unwrap(),
        };
        let params = Params::insecure(spec).unwrap();
        let secret = SecretKey::from_secret(&params, KeyId([1; 16]), &small(&case.secret));
        Self { params, secret }
    }

    fn plaintext(&self, message: &[i64]) -> Plaintext<S> {
        let held = S::held(&self.params, message);
        Plaintext::from_coefficients(&self.params, held, self.params.top_level(), Log2::ZERO)
    }

    /// Checks that encoding the slots gives the message, or in CKKS that decoding the message gives the slots.
    fn check_encoding(&self, what: &str, slots: Option<&[S::Value]>, message: &[i64]) {
        let Some(slots) = slots else {
            assert_eq!(S::slot_shape(&self.params), None, "{what}: no batch, no slots");
            return;
        };
        let plaintext = self.plaintext(message);
        S::check_slots(&self.params, what, &S::decode_slots(&self.params, &plaintext).unwrap(), slots);
        let encoded = S::encode_slots(&self.params, slots, self.params.top_level());
        if S::ID != SchemeId::Ckks {
            assert_eq!(encoded.unwrap().coefficients(), plaintext.coefficients(), "{what}: encoded");
        }
    }

    fn phase(&self, ciphertext: &Ciphertext<S>) -> Poly<Eval> {
        let (last, others) = ciphertext.components().split_last().unwrap();
        others.iter().rev().fold(last.clone(), |mut phase, component| {
            phase.multiply_assign(self.secret.expose_secret_eval());
            phase.add_assign(component);
            phase
        })
    }

    fn check(&self, what: &str, found: &Ciphertext<S>, answer: &CiphertextAnswer<S::Value>) {
        assert_eq!(found.level(), answer.level, "{what}: level");
        // BGV has a factor, CKKS a power; for the missing one the file says 1.
        let scaling = S::scaling_number(found.shape().scaling);
        assert_eq!(scaling, answer.factor * answer.power, "{what}: factor or power");
        assert_eq!(found.components().len(), answer.components.len(), "{what}: components");
        for (i, (component, limbs)) in found.components().iter().zip(&answer.components).enumerate() {
            assert_limbs(&format!("{what}: component {i}"), component, limbs);
        }
        assert_limbs(&format!("{what}: phase"), &self.phase(found), &answer.phase);
        if let Some(message) = &answer.message {
            let decrypted = Decryptor::new(&self.secret).decrypt(found).expect(what);
            assert_eq!(decrypted.coefficients(), S::held(&self.params, message), "{what}: message");
        }
        if let Some(slots) = &answer.slots {
            S::check_slots(&self.params, what, &S::slots(self, what, found), slots);
        }
    }

    fn key(&self, what: &str, target: &Poly<Eval>, seed: Seed, digits: &[PairAnswer]) -> KeySwitchKey {
        let errors: Vec<SmallPoly> = digits.iter().map(|d| small(&d.error)).collect();
        let key = self.secret.key_switch_key_with(target, seed, &errors).unwrap();
        assert_eq!(key.bodies().len(), digits.len(), "{what}: digits");
        for (i, (body, answer)) in key.bodies().iter().zip(digits).enumerate() {
            assert_limbs(&format!("{what}: body {i}"), body, &answer.body);
            let mask = seed.expand(i as u8, self.params.ring(), self.params.key_limbs());
            assert_limbs(&format!("{what}: mask {i}"), &mask, &answer.mask);
        }
        key
    }

    fn check_key_switch(&self, what: &str, input: &Poly<Eval>, key: &KeySwitchKey, answer: &KeySwitchAnswer) {
        assert_limbs(&format!("{what}: input"), input, &answer.input);
        let has_limbs = |level: &usize| self.params.limbs(*level) == input.limbs();
        let level = (0..=self.params.top_level()).find(has_limbs).unwrap();
        let digits = intermediates::decompose(&self.params, level, input, &mut Scratch::new());
        assert_eq!(digits.len(), answer.digits.len(), "{what}: digits");
        for (i, (digit, limbs)) in digits.iter().zip(&answer.digits).enumerate() {
            assert_limbs(&format!("{what}: digit {i}"), digit, limbs);
        }
        let sums = intermediates::accumulate(&self.params, level, &digits, key, &mut Scratch::new());
        let output = intermediates::switch(&self.params, level, input, key, &mut Scratch::new());
        for (i, (sum, output)) in sums.polys().iter().zip(&output).enumerate() {
            assert_limbs(&format!("{what}: accumulator {i}"), sum, &answer.accumulators[i]);
            assert_limbs(&format!("{what}: output {i}"), output, &answer.output[i]);
        }
    }
}

impl Story<Ckks> {
    /// Decodes a product above 62 bits, which the decryptor refuses before it is rescaled. Rescales the phase instead:
    /// it has one component, so only its coefficients are rounded.
    fn slots_of_large_product(&self, ciphertext: &Ciphertext<Ckks>) -> Vec<f64> {
        let (params, level) = (&self.params, ciphertext.level());
        assert_eq!(ciphertext.shape().scaling, ScalePower(2), "only a product is too large");
        assert!(params.scale(level).log2() * 2.0 > 61.0, "a product of 61 bits is not too large");
        let limbs = params.limbs(level);
        let (kept, last) = (limbs.start..limbs.end - 1, limbs.end - 1..limbs.end);
        let division = Division::new(params.ring(), last, kept, Rounding::Nearest).unwrap();
        let phase = division.apply(&self.phase(ciphertext));
        let plaintext = Ckks::recover(params, &phase, level - 1, ScalePower(1));
        Ckks::decode_slots(params, &plaintext).unwrap()
    }
}

fn tell<S: Answers>(name: &str) {
    for case in vectors::cases::<SchemeCase<S::Value>>(name) {
        println!("{name}: n = {}, data primes {:?}", case.degree, case.data); // shown when something fails
        let story = Story::<S>::new(&case);
        let (params, secret) = (&story.params, &story.secret);
        let evaluator = Evaluator::new(params);
        let mut keys = EvaluationKeys::empty(params, secret.id());

        let public = secret.public_key_with(case.public_key.seed, &small(&case.public_key.error));
        assert_limbs("public key: body", public.body(), &case.public_key.body);
        let mask = public.mask().clone();
        assert_limbs("public key: mask", &mask, &case.public_key.mask);

        let answer = &case.relinearisation_key;
        let s = secret.expose_secret_eval();
        let relinearisation = story.key("relinearisation key", &s.product(s), answer.seed, &answer.digits);
        keys.relinearisation = Some(relinearisation.clone());
        let answer = &case.galois_key;
        let element = GaloisMap::rotation_element(case.degree, answer.step).unwrap();
        assert_eq!(element, answer.galois_element, "Galois element");
        let map = GaloisMap::new(case.degree, element).unwrap();
        let galois = story.key("Galois key", &map.apply(s), answer.seed, &answer.digits);
        keys.galois.insert(map.clone(), galois.clone());

        let answer = &case.left;
        story.check_encoding("left", answer.slots.as_deref(), &answer.message);
        let seeded = secret
            .encrypt_with(&story.plaintext(&answer.message), answer.seed, &small(&answer.error))
            .unwrap();
        let left = seeded.expand();
        story.check("left", &left, &answer.ciphertext);
        let answer = &case.right;
        story.check_encoding("right", answer.slots.as_deref(), &answer.message);
        let [e0, e1] = [small(&answer.errors[0]), small(&answer.errors[1])];
        let right = public
            .encrypt_with(&story.plaintext(&answer.message), &small(&answer.ternary), &e0, &e1)
            .unwrap();
        story.check("right", &right, &answer.ciphertext);

        story.check("sum", &evaluator.add(&left, &right).unwrap(), &case.sum);
        let product = evaluator.multiply(&left, &right).unwrap();
        story.check("product", &product, &case.product);

        let answer = &case.relinearised;
        story.check_key_switch(
            "relinearised",
            &product.components()[2],
            &relinearisation,
            &answer.key_switch,
        );
        let relinearised = evaluator.relinearise(&product, &keys).unwrap();
        story.check("relinearised", &relinearised, &answer.ciphertext);
        let dropped = evaluator.drop_modulus(&relinearised).unwrap();
        story.check("dropped", &dropped, &case.dropped);

        for (what, ciphertext, answer) in
            [("rotated", &left, &case.rotated), ("dropped, rotated", &dropped, &case.dropped_rotated)]
        {
            let moved = map.apply(&ciphertext.components()[1]);
            story.check_key_switch(what, &moved, &galois, &answer.key_switch);
            let rotated = evaluator.rotate(ciphertext, case.galois_key.step, &keys).unwrap();
            story.check(what, &rotated, &answer.ciphertext);
        }
    }
}

#[test]
fn bfv() {
    tell::<Bfv>("bfv");
}

#[test]
fn bgv() {
    tell::<Bgv>("bgv");
}

#[test]
fn ckks() {
    tell::<Ckks>("ckks");
}

/// Converts a whole polynomial from one range of limbs to another.
fn convert(source: &Poly<Coeff>, from: &Range<usize>, to: &Range<usize>) -> Poly<Eval> {
    let ring = source.ring();
    let conversion = Conversion::new(&ring.moduli(from.clone()), &ring.moduli(to.clone()));
    let residues = from.clone().map(|i| source.limb(i));
    let quotients = conversion.prepare(ring.kernels(), residues, &mut Scratch::new());
    let mut out = Poly::<Coeff>::zero(ring, to.clone());
    for (j, i) in to.clone().enumerate() {
        conversion.write(ring.kernels(), &quotients, j, out.limb_mut(i));
    }
    out.into_eval()
}

/// The crate takes other auxiliary primes B than the spec; its product does not depend on them. This test repeats the
/// steps over the spec's B with functions of ring, so that the spec's intermediates are compared too.
#[test]
fn bfv_product_step_by_step() {
    for case in vectors::cases::<SchemeCase<i64>>("bfv") {
        let answer = case.product_intermediates.as_ref().expect("BFV has them");
        let ring = Ring::new(case.degree, &[case.data.clone(), answer.auxiliary.clone()].concat()).unwrap();
        let (level, auxiliary) = (0..case.data.len(), case.data.len()..ring.limb_count());
        let extend = |(component, converted): (&Limbs, &Limbs)| {
            let source: Poly<Eval> = poly(&ring, level.clone(), component);
            assert_limbs("operand in B", &convert(&source.into_coeff(), &level, &auxiliary), converted);
            poly::<Eval>(&ring, ring.all_limbs(), &[component.clone(), converted.clone()].concat())
        };
        let a: Vec<_> = case.left.ciphertext.components.iter().zip(&answer.left).map(extend).collect();
        let b: Vec<_> = case.right.ciphertext.components.iter().zip(&answer.right).map(extend).collect();
        let mut middle = a[0].product(&b[1]);
        middle.add_product(&a[1], &b[0]);
        let tensor = [a[0].product(&b[0]), middle, a[1].product(&b[1])];
        let division = Division::new(&ring, level.clone(), auxiliary.clone(), Rounding::Nearest).unwrap();
        let t = case.plain_modulus.expect("BFV has one");
        for (i, mut component) in tensor.into_iter().enumerate() {
            assert_limbs(&format!("tensor: component {i}"), &component, &answer.tensor[i]);
            component.scale_by(|q| q.reduce(t));
            let quotient = division.apply(&component.into_coeff());
            let scaled = convert(&quotient, &auxiliary, &level);
            assert_limbs(&format!("product: component {i}"), &scaled, &case.product.components[i]);
        }
    }
}

#[test]
fn ckks_scales() {
    for case in vectors::cases::<SchemeCase<f64>>("ckks") {
        let story = Story::<Ckks>::new(&case);
        let scales = case.scales.expect("CKKS has them");
        assert_eq!(scales.len(), story.params.top_level() + 1);
        for (level, expected) in scales.iter().enumerate() {
            let found = story.params.scale(level);
            assert!(
                (found / expected - 1.0).abs() <= f64::EPSILON,
                "scale {level} is {found}, not {expected}"
            );
        }
    }
}
