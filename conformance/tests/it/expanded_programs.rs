//! Random programs over expanded compact ciphertexts: their values equal those of ordinary ciphertexts, slot for slot,
//! and their noise is within its bound.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_ring::Scratch;
use sotto_rlwe::{
    Addend, Bfv, Bgv, Ciphertext, Ckks, EvalError, Kept, Multiplier, Params, Plaintext, Scheme, SchemeId,
};

/// The effect of an operation on two values.
type Meaning<S> = fn(&Params<S>, <S as Scheme>::Value, <S as Scheme>::Value) -> <S as Scheme>::Value;

/// One step of a program on the expanded ciphertext, on the ordinary one, and on the values.
enum Step<S: Testable> {
    Add,
    Double,
    Multiply,
    Square,
    MultiplyPlain(Vec<S::Value>),
    AddPlain(Vec<S::Value>),
    Rotate,
}

/// Two ciphertexts of the same values; one of them was expanded from a compact one.
struct Held<S: Testable> {
    expanded: Ciphertext<S>,
    ordinary: Ciphertext<S>,
    /// The values that repeat in the slots.
    clear: Vec<S::Value>,
    depth: usize,
    story: String,
}

/// Findings over all programs of a scheme.
#[derive(Default)]
struct Found {
    results: usize,
    deepest: usize,
    /// Smallest and largest bound − measured noise, in bits.
    slack: Option<(f64, f64)>,
}

struct Programs<'f, S: Testable> {
    fixture: Fixture<S>,
    kept: Kept,
    most_depth: usize,
    rng: &'f mut ChaCha20Rng,
    found: &'f mut Found,
}

fn below(rng: &mut ChaCha20Rng, limit: usize) -> usize {
    (rng.next_u64() % limit as u64) as usize
}

impl<S: Testable> Programs<'_, S> {
    fn random_values(&mut self) -> Vec<S::Value> {
        (0..self.kept.values()).map(|_| S::random(&self.fixture.params, self.rng)).collect()
    }

    fn encode(&self, values: &[S::Value], level: usize) -> Plaintext<S> {
        let largest = values.iter().map(|v| S::distance(*v, S::small(0))).fold(1.0, f64::max);
        self.fixture.params.encode_repeated(values, level).unwrap().declare_magnitude(largest)
    }

    fn fresh(&mut self) -> Held<S> {
        let clear = self.random_values();
        let f = &mut self.fixture;
        let top = f.params.top_level();
        let repeated = f.params.encode_repeated(&clear, top).unwrap();
        let ordinary = f.secret.encrypt(&repeated, &mut f.rng).unwrap().expand();
        let sent = match self.kept {
            Kept::Whole(_) => repeated,
            Kept::Folded(_) => f.params.encode_folded(&clear, 1.0, top).unwrap(),
        };
        let compact = f.secret.encrypt(&sent, &mut f.rng).unwrap().compact(self.kept).unwrap();
        let expanded = f.evaluator.expand(&compact, &f.keys, &mut Scratch::new()).unwrap();
        Held { expanded, ordinary, clear, depth: 0, story: "x".into() }
    }

    /// BGV drops a prime for each product behind the deeper operand; the other schemes use the lower level.
    fn common_level(&self, a: &Held<S>, b: &Held<S>) -> usize {
        let level = a.expanded.level().min(b.expanded.level());
        if S::ID != SchemeId::Bgv {
            return level;
        }
        level.min(self.fixture.params.top_level().saturating_sub(a.depth.max(b.depth)))
    }

    fn rescaled(&self, product: Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        if S::ID == SchemeId::Ckks { self.fixture.evaluator.drop_modulus(&product) } else { Ok(product) }
    }

    fn run_step(
        &self,
        step: &Step<S>,
        a: &Ciphertext<S>,
        b: &Ciphertext<S>,
        level: usize,
    ) -> Result<Ciphertext<S>, EvalError> {
        let (e, p, keys) = (&self.fixture.evaluator, &self.fixture.params, &self.fixture.keys);
        let same = core::ptr::eq(a, b);
        let multiplied =
            |a: &Ciphertext<S>, b: &Ciphertext<S>| self.rescaled(e.relinearise(&e.multiply(a, b)?, keys)?);
        match step {
            Step::Add | Step::Multiply => {
                let x = e.lower(a, level)?;
                // The same ciphertext as both operands: the model takes one operand twice.
                let other = if same { None } else { Some(e.lower(b, level)?) };
                let y = other.as_ref().unwrap_or(&x);
                if matches!(step, Step::Add) { e.add(&x, y) } else { multiplied(&x, y) }
            }
            Step::Double => e.add(a, a),
            Step::Square => {
                let x = e.lower(a, level)?;
                multiplied(&x, &x)
            }
            Step::MultiplyPlain(values) => {
                let plaintext = self.encode(values, a.level());
                self.rescaled(e.multiply_plain(a, &Multiplier::new(p, &plaintext, a.level()))?)
            }
            Step::AddPlain(values) => {
                let plaintext = self.encode(values, a.level());
                e.add_plain(a, &Addend::new(p, &plaintext, a.level(), a.shape().scaling))
            }
            Step::Rotate => e.rotate(a, 1, keys),
        }
    }

    /// Applies a random step; returns an error if the operands do not allow it.
    fn step(&mut self, held: &[Held<S>]) -> Result<Held<S>, EvalError> {
        let a = &held[below(self.rng, held.len())];
        let other = &held[below(self.rng, held.len())];
        let step = match below(self.rng, 8) {
            0 => Step::Add,
            1 => Step::Double,
            2 | 3 => Step::Multiply,
            4 => Step::Square,
            5 => Step::MultiplyPlain(self.random_values()),
            6 => Step::AddPlain(self.random_values()),
            _ => Step::Rotate,
        };
        let b = if matches!(step, Step::Add | Step::Multiply) { other } else { a };
        let level = self.common_level(a, b);
        let p = &self.fixture.params;
        let zip = |values: &[S::Value], op: Meaning<S>| {
            a.clear.iter().zip(values).map(|(x, y)| op(p, *x, *y)).collect::<Vec<_>>()
        };
        let (name, clear) = match &step {
            Step::Add => ("+", zip(&b.clear, S::plus)),
            Step::Double => ("doubled", zip(&a.clear, S::plus)),
            Step::Multiply => ("·", zip(&b.clear, S::times)),
            Step::Square => ("squared", zip(&a.clear, S::times)),
            Step::MultiplyPlain(values) => ("· plain", zip(values, S::times)),
            Step::AddPlain(values) => ("+ plain", zip(values, S::plus)),
            Step::Rotate => {
                let mut moved = a.clear.clone();
                moved.rotate_left(1);
                ("rotated", moved)
            }
        };
        let deeper = matches!(step, Step::Multiply | Step::Square | Step::MultiplyPlain(_));
        let depth = a.depth.max(b.depth) + usize::from(deeper);
        let expanded = self.run_step(&step, &a.expanded, &b.expanded, level)?;
        let ordinary = self.run_step(&step, &a.ordinary, &b.ordinary, level)?;
        let other = if core::ptr::eq(a, b) { "" } else { b.story.as_str() };
        Ok(Held { expanded, ordinary, clear, depth, story: format!("({} {name} {other})", a.story) })
    }

    fn judge(&mut self, held: &Held<S>) {
        let f = &self.fixture;
        let told = format!(
            "{} n = {} {:?} depth {}: {}",
            S::ID,
            f.params.degree(),
            self.kept,
            held.depth,
            held.story
        );
        let (expanded, ordinary) = (&held.expanded, &held.ordinary);
        assert_eq!(expanded.level(), ordinary.level(), "{told}: level");
        let (rows, columns) = S::slot_shape(&f.params).unwrap();
        let everywhere = held.clear.repeat(rows * columns / held.clear.len());
        f.check(&told, expanded, &everywhere);
        f.check(&format!("{told}, never compact"), ordinary, &everywhere);
        let decryptor = Decryptor::new(&f.secret);
        let message = self.encode(&held.clear, expanded.level());
        let measured = decryptor.measure_error_bits(expanded, Some(message.coefficients()));
        let (bound, estimate) =
            (expanded.shape().noise.error.0, expanded.shape().estimated(&f.params).error.0);
        let figures = format!("measured {measured:.1}, estimate {estimate:.1}, bound {bound:.1}: {told}");
        assert!(measured <= bound, "more than the bound: {figures}");
        // The bound adds n/k switches without averaging, while the noise is about the root of that number. A product of
        // BGV squares the ratio.
        let switches = (f.params.degree() as f64 / self.kept.places() as f64).log2() / 2.0;
        assert!(held.depth > 0 || bound <= measured + 12.0 + switches, "a loose bound: {figures}");
        // Sums only. The estimate assumes CKKS values spread over their range, but a few values are not. It also
        // assumes the largest of n/2 roots, but an expansion's noise has fewer. A product counts both deviations once
        // more.
        let near = (estimate - measured).abs() <= 3.0;
        assert!(held.depth > 0 || near, "a wrong estimate: {figures}");
        let found = &mut self.found;
        found.results += 1;
        found.deepest = found.deepest.max(held.depth);
        let slack = bound - measured;
        let (least, most) = found.slack.unwrap_or((slack, slack));
        found.slack = Some((least.min(slack), most.max(slack)));
    }

    fn run(&mut self, steps: usize) {
        let mut held = vec![self.fresh(), self.fresh()];
        held.iter().for_each(|h| self.judge(h));
        for _ in 0..steps {
            match self.step(&held) {
                Ok(next) if next.depth <= self.most_depth => {
                    self.judge(&next);
                    held.push(next);
                }
                _ => {}
            }
        }
    }
}

/// Returns a number of values, a power of two from 2 to n/2, whole or folded.
fn random_form(rng: &mut ChaCha20Rng, degree: usize) -> Kept {
    let values = 2usize << below(rng, degree.trailing_zeros() as usize - 1);
    if below(rng, 2) == 0 { Kept::Whole(2 * values) } else { Kept::Folded(values) }
}

fn run<S: Testable>(seed: u8) {
    // The deep suite runs more.
    let times = std::env::var("SOTTO_NOISE_PROGRAMS").map_or(1, |times| times.parse::<usize>().unwrap());
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    for (degree, most_depth, forms) in [(4096, 1, 4), (8192, 3, 6), (16384, 5, 2)] {
        let params = Params::<S>::default_chain(degree, S::plain_modulus(degree)).unwrap();
        let mut found = Found::default();
        for _ in 0..forms * times {
            let kept = random_form(&mut rng, degree);
            let steps: Vec<i32> = params.expansion_steps(kept).unwrap().into_iter().chain([1]).collect();
            let fixture = Fixture::with_steps(params.clone(), &steps, rng.next_u64() as u8);
            let mut programs = Programs { fixture, kept, most_depth, rng: &mut rng, found: &mut found };
            (0..2).for_each(|_| programs.run(8));
        }
        let (least, most) = found.slack.unwrap();
        println!(
            "{} n = {degree}: {} results of {} forms, products up to depth {}, bound − measured {least:.1} … {most:.1} bits",
            S::ID,
            found.results,
            forms * times,
            found.deepest
        );
        assert!(found.deepest > 0, "no products at all");
    }
}

#[test]
fn bfv() {
    run::<Bfv>(31);
}

#[test]
fn bgv() {
    run::<Bgv>(32);
}

#[test]
fn ckks() {
    run::<Ckks>(33);
}
