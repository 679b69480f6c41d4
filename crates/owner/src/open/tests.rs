//! Answers of a cheating cloud, with valid headers.
#![allow(clippy::unwrap_used)]

use sotto_keys::DeviceSecret;
use sotto_program::{Program, ProgramBuilder};
use sotto_ring::{Coeff, Eval, Poly, secure_rng};
use sotto_rlwe::{
    Bfv, Bgv, Ckks, EvaluationKeys, Evaluator, Log2, Noise, Origin, Params, Plaintext, Scheme, Shape,
};
use sotto_runtime::{Encoding, Lowered, Managed, RlweTarget};

use super::*;

/// The largest value of an input and of each of the first slots.
const MAGNITUDE: f64 = 1000.0;
const FILLED: usize = 8;

/// The program that adds two inputs.
fn sum() -> Program {
    let mut builder = ProgramBuilder::new();
    let [x, y] = ["x", "y"].map(|name| builder.declare(name.to_owned(), MAGNITUDE));
    let [x, y] = [x, y].map(|input| builder.read(input));
    let sum = builder.add(x, y);
    builder.output("sum".to_owned(), sum);
    builder.finish().unwrap()
}

/// A plan, the key of its answer, and the cloud's honest answer as a ciphertext.
struct World<S: Managed> {
    key: SecretKey<S>,
    lowered: Lowered<S>,
    answer: Ciphertext<S>,
}

impl<S: Managed<Value: Readable>> World<S> {
    fn new(params: &Params<S>, value: impl Fn(i32) -> S::Value, reduced: bool) -> Self {
        let target = RlweTarget {
            params: params.clone(),
            encoding: Encoding::Slots,
            origin: Origin::SecretKey,
            kept: None,
            may_wrap: false,
        };
        let lowered = if reduced {
            target.lower_reduced(&sum(), &[]).unwrap()
        } else {
            target.lower_with_shapes(&sum()).unwrap()
        };
        let key = SecretKey::derive(&DeviceSecret::from_bytes(&[8; 32]), params);
        let input = |sign: i32| {
            let values: Vec<S::Value> = (0..FILLED as i32).map(|at| value(sign * at)).collect();
            let plain = S::encode_slots(params, &values, params.top_level()).unwrap();
            let plain = plain.declare_magnitude(MAGNITUDE);
            key.encrypt(&plain, &mut secure_rng().unwrap()).unwrap().expand()
        };
        let inputs = vec![input(2), input(-1)];
        let (evaluator, keys) = (Evaluator::new(params), EvaluationKeys::empty(params, key.id()));
        let answer = sotto_runtime::run(&lowered.plan, &evaluator, inputs, &keys).unwrap().remove(0);
        Self { key, lowered, answer }
    }

    fn planned(&self) -> &Planned<S> {
        &self.lowered.outputs[0]
    }

    /// Returns the frame of an answer with the header of the honest one.
    fn frame(&self, components: Vec<Poly<Eval>>) -> Vec<u8> {
        self.frame_of(*self.answer.shape(), components)
    }

    fn frame_of(&self, shape: Shape<S>, components: Vec<Poly<Eval>>) -> Vec<u8> {
        let answer = Ciphertext::from_parts(self.key.params(), self.key.id(), shape, components);
        match self.planned().reduction {
            Some(reduction) => sotto_wire::write_reduced(&answer.reduce(reduction).unwrap()),
            None => AnyCiphertext::Expanded(answer).write(),
        }
    }

    /// Opens a frame like the owner.
    fn opened(&self, frame: &[u8]) -> Result<Numbers, OwnerError> {
        let answer = read(frame, &self.key, self.planned())?;
        let bounds = Bounds { magnitude: 2.0 * MAGNITUDE, contents: Contents::Slots(FILLED) };
        slots(&self.key, &answer, self.planned(), bounds, Release::Rounded, |_, _| ())
            .map(|(numbers, _)| numbers)
    }

    /// Returns the answer (0, c) for a constant c with these residues.
    fn constant(&self, residue: impl Fn(&sotto_ring::Modulus) -> u64) -> Vec<Poly<Eval>> {
        let (params, level) = (self.key.params(), self.answer.level());
        let mut mask = Poly::<Coeff>::zero(params.ring(), params.limbs(level));
        for limb in params.limbs(level) {
            mask.limb_mut(limb)[0] = residue(params.modulus(limb));
        }
        vec![Poly::zero(params.ring(), params.limbs(level)), mask.into_eval()]
    }

    /// Returns the coefficients of the secret key.
    fn secret(&self) -> Vec<i64> {
        let params = self.key.params();
        let secret = self.key.expose_secret_eval().clone().into_coeff();
        let (limb, n) = (params.limbs(0).start, params.degree());
        (0..n).map(|at| params.modulus(limb).centre(secret.limb(limb)[at])).collect()
    }

    fn plaintext(&self, frame: &[u8]) -> Plaintext<S> {
        let answer = read(frame, &self.key, self.planned()).unwrap();
        Decryptor::new(&self.key).decrypt(&answer).unwrap()
    }
}

/// Checks that the forged answer (0, c) decrypts to the secret key, and that the owner refuses it.
fn attack<S: Managed<Value = i64>>(reduced: bool, constant: impl Fn(&World<S>) -> Vec<Poly<Eval>>) {
    let params = Params::<S>::default_chain(4096, 65537).unwrap();
    let world = World::new(&params, i64::from, reduced);
    let expected: Vec<i64> = (0..8).chain(std::iter::repeat_n(0, 4096 - 8)).collect();
    let honest = world.frame(world.answer.components().to_vec());
    assert_eq!(world.opened(&honest).unwrap(), Numbers::Whole(expected), "the honest answer");

    let forged = world.frame(constant(&world));
    let plaintext = world.plaintext(&forged);
    assert!(plaintext.coefficients().iter().eq(&world.secret()), "the plaintext is the secret key modulo t");
    let error = world.opened(&forged).unwrap_err().to_string();
    assert!(error.contains("do not act on it, do not share it"), "{error}");
}

/// (0, round(Q/t)): its phase is s·Q/t.
fn bfv(world: &World<Bfv>) -> Vec<Poly<Eval>> {
    let (params, level) = (world.key.params(), world.answer.level());
    let t = params.plain_modulus();
    let product =
        |by: u64| params.limbs(level).fold(1, |q, limb| q * (params.modulus(limb).value() % by) % by);
    // round(Q/t) = (Q − r)/t with r the remainder of Q nearest to zero; modulo a prime of Q it is −r/t.
    let rest = product(t) as i64;
    let rest = if rest > t as i64 / 2 { rest - t as i64 } else { rest };
    world.constant(|q| q.multiply(q.from_signed(-rest), q.invert_vartime(q.reduce(t)).unwrap()))
}

#[test]
fn an_answer_that_is_the_secret_key_is_refused_in_bfv() {
    for reduced in [false, true] {
        attack::<Bfv>(reduced, bfv);
    }
}

/// (0, c): its phase is c·s, which is s modulo t after division by the answer's factor. Only for whole answers:
/// reducing to few bits adds a multiple of t.
#[test]
fn an_answer_that_is_the_secret_key_is_refused_in_bgv() {
    attack::<Bgv>(false, |world| {
        let scaling = world.answer.shape().scaling;
        world.constant(|q| q.reduce(scaling))
    });
}

/// A header that claims almost no message and almost no noise would have 52 bits of noise published.
#[test]
fn a_claimed_noise_bound_does_not_reach_what_is_published() {
    let params = Params::<Ckks>::default_chain(4096, 30).unwrap();
    let world = World::new(&params, f64::from, false);
    let honest = world.frame(world.answer.components().to_vec());
    let shape = *world.answer.shape();
    let lie = Shape { noise: Noise { message: Log2(-1000.0), error: Log2(-1000.0) }, ..shape };
    let forged = world.frame_of(lie, world.answer.components().to_vec());
    let claimed = AnyCiphertext::read(&forged, world.key.params()).unwrap().with_claimed_shape().expand();
    let believed = Decryptor::new(&world.key).slots(&claimed).unwrap();
    assert_eq!(believed.publishable_bits(), 52, "what believing the header would publish");
    assert_eq!(world.opened(&forged).unwrap(), world.opened(&honest).unwrap());
    let expected = Decryptor::new(&world.key).slots(&read(&forged, &world.key, world.planned()).unwrap());
    assert!(expected.unwrap().publishable_bits() < 20, "the plan's bound counts");
}

/// (0, c) with c of CKKS's scale: its slots are those of the secret key, which exceed any sum of readings.
#[test]
fn an_answer_that_is_the_secret_key_is_refused_in_ckks() {
    let params = Params::<Ckks>::default_chain(4096, 30).unwrap();
    let world = World::new(&params, f64::from, false);
    let forged = world.frame(world.constant(|q| q.reduce(1 << 50)));
    let error = world.opened(&forged).unwrap_err().to_string();
    assert!(error.contains("do not act on it, do not share it"), "{error}");
}

/// A value in range, in a slot where the plan has zero.
#[test]
fn a_value_where_the_plan_has_none_is_refused() {
    let world = World::new(&Params::<Bfv>::default_chain(4096, 65537).unwrap(), i64::from, false);
    let params = world.key.params();
    for (slot, forged) in [(FILLED - 1, false), (FILLED, true), (params.degree() - 1, true)] {
        let mut values = vec![0; params.degree()];
        values[slot] = 1;
        let plain = Bfv::encode_slots(params, &values, params.top_level()).unwrap();
        let fresh = world.key.encrypt(&plain, &mut secure_rng().unwrap()).unwrap().expand();
        let lowered = Evaluator::new(params).lower(&fresh, world.answer.level()).unwrap();
        let opened = world.opened(&world.frame(lowered.components().to_vec()));
        assert_eq!(opened.is_err(), forged, "slot {slot}");
    }
}
