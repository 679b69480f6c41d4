//! A machine under test, and the suite that compares any machine with the one that defines the meaning.

use sotto_circuits::{CircuitError, Clear, Encrypted, Machine, Number};
use sotto_decrypt::Decryptor;
use sotto_rlwe::Ciphertext;

use crate::cases::{Case, Public};
use crate::fixture::{Fixture, Testable};

/// A machine with conversions to and from slots.
pub trait Subject {
    /// A slot's value.
    type Value: Number;
    /// The machine's vectors.
    type Vector;
    /// Computes on the subject's vectors.
    type Machine<'a>: Machine<Value = Self::Value, Vector = Self::Vector>
    where
        Self: 'a;

    /// A name for messages.
    fn name(&self) -> String;
    /// Returns the machine that defines the meaning.
    fn meaning(&self) -> Clear<Self::Value>;
    /// Returns the machine that is tested.
    fn machine(&self) -> Self::Machine<'_>;
    /// Returns random slots.
    fn random(&mut self) -> Vec<Self::Value>;
    /// Returns the arguments of the cases.
    fn public(&mut self) -> Public<Self::Value>;
    /// Encrypts slots with the public or the secret key.
    fn load(&mut self, values: &[Self::Value], public: bool) -> Self::Vector;
    /// Brings a vector to a lower level; None if the noise does not allow it.
    fn lowered(&self, a: &Self::Vector, level: usize) -> Option<Self::Vector>;
    /// Returns the highest level.
    fn top(&self) -> usize;
    /// Returns true if the machine can switch keys.
    fn keyed(&self) -> bool;
    /// Panics unless a vector holds these slots, within its own bound.
    fn check(&self, what: &str, a: &Self::Vector, expected: &[Self::Value]);
    /// Returns the outline's prediction for a case: shapes as text, or the reason of a refusal. None for machines
    /// without an outline.
    fn outlined(
        &self,
        case: Case,
        a: &Self::Vector,
        b: &Self::Vector,
        public: &Public<Self::Value>,
    ) -> Option<Result<Vec<String>, CircuitError>>;
    /// Returns a vector's shape as text.
    fn shape(&self, a: &Self::Vector) -> String;
}

/// Runs cases with the first operand at `level` and the second at the top. Each result must have the defined value and
/// the shape that the outline predicts; the outline must predict each refusal too. Returns the cases that were not
/// refused.
pub fn hold<T: Subject>(t: &mut T, cases: &[Case], level: usize) -> Vec<Case> {
    let (x, y, public) = (t.random(), t.random(), t.public());
    let (a, b) = (t.load(&x, level.is_multiple_of(2)), t.load(&y, level % 2 == 1));
    let Some(a) = t.lowered(&a, level) else { return Vec::new() };
    let mut done = Vec::new();
    let mut machine = t.machine();
    for case in cases {
        let what = format!("{} level {level} {case:?}", t.name());
        let meaning = case.run(&mut t.meaning(), &x, &y, &public).expect("it means something");
        let found = case.run(&mut machine, &a, &b, &public);
        if let Some(outlined) = t.outlined(*case, &a, &b, &public) {
            let shapes = found.as_ref().map(|all| all.iter().map(|v| t.shape(v)).collect::<Vec<_>>());
            assert_eq!(shapes.map_err(Clone::clone), outlined, "{what}: as outlined");
        }
        let Ok(found) = found else { continue };
        assert_eq!(found.len(), meaning.len(), "{what}: as many vectors");
        for (vector, expected) in found.into_iter().zip(&meaning) {
            t.check(&what, &vector, expected);
            machine.recycle(vector);
        }
        done.push(*case);
    }
    done
}

impl<S: Testable> Subject for Fixture<S> {
    type Value = S::Value;
    type Vector = Ciphertext<S>;
    type Machine<'a> = Encrypted<'a, S>;

    fn name(&self) -> String {
        let spec = self.params.spec();
        let (special, digit) = (spec.special.len(), spec.digit_primes);
        format!("{} n = {}, {special} special primes, {digit} a digit", S::ID, spec.degree)
    }

    fn meaning(&self) -> Clear<S::Value> {
        self.clear()
    }

    fn machine(&self) -> Encrypted<'_, S> {
        Encrypted::new(&self.evaluator, &self.keys)
    }

    fn random(&mut self) -> Vec<S::Value> {
        self.values()
    }

    fn public(&mut self) -> Public<S::Value> {
        let mut vector = self.values();
        for (i, value) in vector.iter_mut().enumerate().take(32) {
            if *value == S::Value::default() {
                *value = S::small(i as i64 + 1);
            }
        }
        Public { three: S::small(3), fraction: S::fraction(), vector }
    }

    fn load(&mut self, values: &[S::Value], public: bool) -> Ciphertext<S> {
        self.encrypt(values, public)
    }

    fn lowered(&self, a: &Ciphertext<S>, level: usize) -> Option<Ciphertext<S>> {
        self.evaluator.lower(a, level).ok()
    }

    fn top(&self) -> usize {
        self.params.top_level()
    }

    fn keyed(&self) -> bool {
        self.params.can_switch_keys()
    }

    #[track_caller]
    fn check(&self, what: &str, a: &Ciphertext<S>, expected: &[S::Value]) {
        let shape = a.shape();
        // Decryption takes scaled messages of at most 62 bits.
        if S::RESCALES && S::answer_level(&self.params, shape).is_err() {
            assert!(Decryptor::new(&self.secret).decrypt(a).is_err(), "{what}: too large to decrypt");
            return;
        }
        Self::check(self, what, a, expected);
    }

    fn outlined(
        &self,
        case: Case,
        a: &Ciphertext<S>,
        b: &Ciphertext<S>,
        public: &Public<S::Value>,
    ) -> Option<Result<Vec<String>, CircuitError>> {
        let mut outline = self.machine().outline();
        let shapes = case.run(&mut outline, a.shape(), b.shape(), public);
        Some(shapes.map(|all| all.iter().map(|shape| format!("{shape:?}")).collect()))
    }

    fn shape(&self, a: &Ciphertext<S>) -> String {
        format!("{:?}", a.shape())
    }
}

/// The machine that defines the meaning, tested by its own suite.
#[derive(Debug)]
pub struct DoNothing<V> {
    machine: Clear<V>,
    slots: Vec<V>,
    public: Public<V>,
}

impl<V: Number> DoNothing<V> {
    /// Makes a subject with these slots and constants.
    pub fn new(machine: Clear<V>, slots: Vec<V>, public: Public<V>) -> Self {
        Self { machine, slots, public }
    }
}

impl<V: Number> Subject for DoNothing<V> {
    type Value = V;
    type Vector = Vec<V>;
    type Machine<'a> = Clear<V>;

    fn name(&self) -> String {
        "do-nothing".into()
    }

    fn meaning(&self) -> Clear<V> {
        self.machine
    }

    fn machine(&self) -> Clear<V> {
        self.machine
    }

    fn random(&mut self) -> Vec<V> {
        self.slots.rotate_left(1);
        self.slots.clone()
    }

    fn public(&mut self) -> Public<V> {
        self.public.clone()
    }

    fn load(&mut self, values: &[V], _public: bool) -> Vec<V> {
        self.machine.vector(values).expect("as many values as slots")
    }

    fn lowered(&self, a: &Vec<V>, _level: usize) -> Option<Vec<V>> {
        Some(a.clone())
    }

    fn top(&self) -> usize {
        0
    }

    fn keyed(&self) -> bool {
        true
    }

    #[track_caller]
    fn check(&self, what: &str, a: &Vec<V>, expected: &[V]) {
        assert_eq!(a, expected, "{what}");
    }

    fn outlined(
        &self,
        _: Case,
        _: &Vec<V>,
        _: &Vec<V>,
        _: &Public<V>,
    ) -> Option<Result<Vec<String>, CircuitError>> {
        None
    }

    fn shape(&self, _: &Vec<V>) -> String {
        String::new()
    }
}
