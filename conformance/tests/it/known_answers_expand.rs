//! Compact ciphertexts of slots against the known answers of `spec/`: the residues that travel, every step of their
//! expansion, results side by side.

use serde::de::DeserializeOwned;
use sotto_conformance::Testable;
use sotto_conformance::vectors::{
    self, CiphertextAnswer, CompactSlotsAnswer, ExpandCase, ExpandedAnswer, Limbs, assert_limbs, poly,
};
use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_ring::{GaloisMap, Modulus, Scratch, SmallPoly};
use sotto_rlwe::{
    Bfv, Bgv, Ciphertext, Ckks, Compact, EvaluationKeys, Evaluator, Kept, KeyId, ParameterSpec, Params,
    Scheme, SchemeId,
};

fn small(coefficients: &[i64]) -> SmallPoly {
    SmallPoly::from_coefficients(coefficients.to_vec())
}

/// The keys of a case, and the comparison with its answers.
struct Story<S: Testable> {
    params: Params<S>,
    kept: Kept,
    secret: SecretKey<S>,
    keys: EvaluationKeys<S>,
    evaluator: Evaluator<S>,
    scratch: Scratch,
}

impl<S: Testable<Value: DeserializeOwned>> Story<S> {
    fn new(case: &ExpandCase<S::Value>) -> Self {
        let spec = ParameterSpec {
            scheme: S::ID,
            degree: case.degree,
            special: case.special.clone(),
            data: case.data.clone(),
            digit_primes: case.special.len(),
            plain: case.plain_modulus.or(case.scale_bits).unwrap(),
        };
        let params = Params::<S>::insecure(spec).unwrap();
        let secret = SecretKey::from_secret(&params, KeyId([1; 16]), &small(&case.secret));
        let kept = Kept::from(case.kept);
        let mut keys = EvaluationKeys::empty(&params, secret.id());
        let steps = case.galois_keys.iter().map(|key| key.step).collect::<Vec<_>>();
        assert_eq!(params.expansion_steps(kept).unwrap(), steps, "the steps and their order");
        for key in &case.galois_keys {
            assert_eq!(params.galois_element(key.step), Some(key.galois_element), "step {}", key.step);
            let map = GaloisMap::new(case.degree, key.galois_element).unwrap();
            let errors: Vec<SmallPoly> = key.errors.iter().map(|error| small(error)).collect();
            let target = map.apply(secret.expose_secret_eval());
            let key = secret.key_switch_key_with(&target, key.seed, &errors).unwrap();
            keys.galois.insert(map, key);
        }
        let evaluator = Evaluator::new(&params);
        Self { params, kept, secret, keys, evaluator, scratch: Scratch::new() }
    }

    /// Converts the file's coefficients to those of a plaintext.
    fn held(&self, message: &[i64]) -> Vec<i64> {
        if S::ID == SchemeId::Ckks {
            return message.to_vec();
        }
        let t = Modulus::new(self.params.plain_modulus()).unwrap();
        message.iter().map(|m| t.centre(t.from_signed(*m))).collect()
    }

    fn compact(
        &self,
        what: &str,
        secret: &SecretKey<S>,
        answer: &CompactSlotsAnswer<S::Value>,
    ) -> Compact<S> {
        let top = self.params.top_level();
        let plaintext = match self.kept {
            Kept::Whole(_) => self.params.encode_repeated(&answer.values, top),
            Kept::Folded(_) => self.params.encode_folded(&answer.values, 1.0, top),
        };
        let plaintext = plaintext.unwrap();
        assert_eq!(plaintext.coefficients(), self.held(&answer.message), "{what}: encoded");
        let seeded = secret.encrypt_with(&plaintext, answer.seed, &small(&answer.error)).unwrap();
        let compact = seeded.compact(self.kept).unwrap();
        assert_eq!(compact.limbs(), answer.sent, "{what}: the residues that travel");
        compact
    }

    fn check(&self, what: &str, found: &Ciphertext<S>, answer: &CiphertextAnswer<S::Value>) {
        assert_eq!(found.level(), answer.level, "{what}: level");
        assert_eq!(S::scaling_number(found.shape().scaling), answer.factor * answer.power, "{what}: scaling");
        components(what, found, [&answer.components[0], &answer.components[1]]);
        let decryptor = Decryptor::new(&self.secret);
        let decrypted = decryptor.decrypt(found).expect(what);
        if let Some(message) = &answer.message {
            assert_eq!(decrypted.coefficients(), self.held(message), "{what}: message");
        }
        let slots = answer.slots.as_ref().expect("every case has slots");
        self.check_values(what, &S::decode_slots(&self.params, &decrypted).unwrap(), slots);
    }

    /// Compares values modulo t; in CKKS to the six places that the spec writes.
    fn check_values(&self, what: &str, found: &[S::Value], expected: &[S::Value]) {
        assert_eq!(found.len(), expected.len(), "{what}: values");
        for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
            // File and plaintext may use different representatives modulo t.
            let zero = S::small(0);
            let (found, expected) =
                (S::plus(&self.params, *found, zero), S::plus(&self.params, *expected, zero));
            assert!(
                S::distance(found, expected) < 5.001e-7,
                "{what}: value {at} is {found:?}, not {expected:?}"
            );
        }
    }

    /// Checks each step: the automorphism of an answer, added to that answer, is the next one.
    fn check_steps(&self, what: &str, compact: &Compact<S>, steps: &[[Limbs; 2]]) {
        let order = self.params.expansion_steps(self.kept).unwrap();
        assert_eq!(steps.len(), order.len() + 1, "{what}: steps");
        for (step, pair) in order.into_iter().zip(steps.windows(2)) {
            let limbs = || self.params.limbs(compact.shape().level);
            let before = pair[0].each_ref().map(|residues| poly(self.params.ring(), limbs(), residues));
            let before = Ciphertext::from_parts(&self.params, compact.key(), *compact.shape(), before);
            let moved = match step {
                0 => self.evaluator.swap_rows(&before, &self.keys),
                step => self.evaluator.rotate(&before, step, &self.keys),
            };
            let after = self.evaluator.add(&before, &moved.unwrap()).unwrap();
            components(&format!("{what}: after the step {step}"), &after, pair[1].each_ref());
        }
    }

    fn expanded(&mut self, what: &str, answer: &ExpandedAnswer<S::Value>) -> Ciphertext<S> {
        let compact = self.compact(what, &self.secret, &answer.window);
        self.check_steps(what, &compact, &answer.steps);
        let expanded = self.evaluator.expand(&compact, &self.keys, &mut self.scratch).unwrap();
        self.check(&format!("{what}: expanded"), &expanded, &answer.expanded);
        let decrypted = Decryptor::new(&self.secret).decrypt(&expanded).unwrap();
        let values = self.params.decode_repeated(&decrypted, self.kept.values()).unwrap();
        self.check_values(&format!("{what}: values"), &values, &answer.window.values);
        expanded
    }
}

fn components<S: Scheme>(what: &str, found: &Ciphertext<S>, expected: [&Limbs; 2]) {
    assert_eq!(found.components().len(), 2, "{what}: components");
    for (at, (component, limbs)) in found.components().iter().zip(expected).enumerate() {
        assert_limbs(&format!("{what}: component {at}"), component, limbs);
    }
}

fn tell<S: Testable<Value: DeserializeOwned>>(case: &ExpandCase<S::Value>) {
    let what = format!("{}, n = {}, {:?}", case.scheme, case.degree, case.kept);
    let mut story = Story::<S>::new(case);
    let [first, mut second] =
        [0, 1].map(|at| story.expanded(&format!("{what}: window {at}"), &case.windows[at]));
    let Some(answer) = &case.together else {
        assert_eq!(story.kept.spacing(case.degree), 1, "{what}: no room beside a result");
        return;
    };
    story.evaluator.multiply_monomial_assign(&mut second, 1).unwrap();
    let together = story.evaluator.add(&first, &second).unwrap();
    components(&format!("{what}: side by side"), &together, answer.components.each_ref());
    let decrypted = Decryptor::new(&story.secret).decrypt(&together).unwrap();
    let count = story.kept.values();
    for (at, expected) in answer.values.iter().enumerate() {
        let part = decrypted.part(count, at).unwrap();
        let values = story.params.decode_repeated(&part, count).unwrap();
        story.check_values(&format!("{what}: part {at}"), &values, expected);
    }
}

#[test]
fn exact() {
    let cases = vectors::cases::<ExpandCase<i64>>("expand-exact");
    for scheme in ["bfv", "bgv"] {
        assert!(cases.iter().any(|case| case.scheme == scheme), "no case of {scheme}");
    }
    for case in &cases {
        match case.scheme.as_str() {
            "bfv" => tell::<Bfv>(case),
            _ => tell::<Bgv>(case),
        }
    }
}

#[test]
fn real() {
    for case in &vectors::cases::<ExpandCase<f64>>("expand-real") {
        tell::<Ckks>(case);
    }
}
