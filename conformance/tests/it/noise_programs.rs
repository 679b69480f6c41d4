//! Random programs: measured noise, estimate and bound.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_rlwe::{Addend, Bfv, Bgv, Ciphertext, Ckks, EvalError, Multiplier, Params, Scheme, SchemeId};

/// The effect of an operation on two values.
type Meaning<S> = fn(&Params<S>, <S as Scheme>::Value, <S as Scheme>::Value) -> <S as Scheme>::Value;

/// A ciphertext, its expected values, and the number of products on the longest path to it.
struct Held<S: Testable> {
    ciphertext: Ciphertext<S>,
    clear: Vec<S::Value>,
    depth: usize,
    story: String,
}

/// The largest distances by depth, in bits.
#[derive(Default)]
struct Found {
    results: usize,
    /// bound − measured.
    slack: f64,
    /// estimate − measured.
    off: (f64, f64),
}

struct Programs<S: Testable> {
    fixture: Fixture<S>,
    rng: ChaCha20Rng,
    most_depth: usize,
    found: Vec<Found>,
}

impl<S: Testable> Programs<S> {
    fn below(&mut self, limit: usize) -> usize {
        (self.rng.next_u64() % limit as u64) as usize
    }

    fn new(params: Params<S>, most_depth: usize, seed: u8) -> Self {
        let fixture = Fixture::new(params, seed);
        let rng = ChaCha20Rng::from_seed([seed ^ 0x5a; 32]);
        let found = (0..=most_depth).map(|_| Found::default()).collect();
        Self { fixture, rng, most_depth, found }
    }

    fn fresh(&mut self) -> Held<S> {
        let clear = self.fixture.values();
        let public = self.below(2) == 0;
        let ciphertext = self.fixture.encrypt(&clear, public);
        let story = if public { "public" } else { "secret" }.to_owned();
        Held { ciphertext, clear, depth: 0, story }
    }

    /// Brings both operands to one level; BGV drops a prime for each product behind the deeper one.
    fn levelled(&self, a: &Held<S>, b: &Held<S>) -> Result<[Ciphertext<S>; 2], EvalError> {
        let e = &self.fixture.evaluator;
        let mut level = a.ciphertext.level().min(b.ciphertext.level());
        if S::ID == SchemeId::Bgv {
            let top = self.fixture.params.top_level();
            level = level.min(top.saturating_sub(a.depth.max(b.depth)));
        }
        Ok([e.lower(&a.ciphertext, level)?, e.lower(&b.ciphertext, level)?])
    }

    fn product(&self, a: &Ciphertext<S>, b: &Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        let e = &self.fixture.evaluator;
        let product = e.relinearise(&e.multiply(a, b)?, &self.fixture.keys)?;
        self.rescaled(product)
    }

    fn rescaled(&self, product: Ciphertext<S>) -> Result<Ciphertext<S>, EvalError> {
        if S::ID == SchemeId::Ckks { self.fixture.evaluator.drop_modulus(&product) } else { Ok(product) }
    }

    /// Applies one random step to existing operands; returns an error if they do not allow it.
    fn step(&mut self, held: &[Held<S>]) -> Result<Held<S>, EvalError> {
        let (a, b) = (&held[self.below(held.len())], &held[self.below(held.len())]);
        let kind = self.below(9);
        let plain = self.fixture.values();
        let (f, p) = (&self.fixture, &self.fixture.params);
        let e = &f.evaluator;
        let zip = |x: &[S::Value], y: &[S::Value], op: Meaning<S>| {
            x.iter().zip(y).map(|(x, y)| op(p, *x, *y)).collect::<Vec<_>>()
        };
        let level = a.ciphertext.level();
        let (name, ciphertext, clear, depth) = match kind {
            0 | 1 => {
                let [x, y] = self.levelled(a, b)?;
                // The same ciphertext as both operands: the model takes one operand twice.
                let y = if core::ptr::eq(a, b) { &x } else { &y };
                ("+", e.add(&x, y)?, zip(&a.clear, &b.clear, S::plus), a.depth.max(b.depth))
            }
            2 => ("doubled", e.add(&a.ciphertext, &a.ciphertext)?, zip(&a.clear, &a.clear, S::plus), a.depth),
            3 | 4 => {
                let [x, y] = self.levelled(a, b)?;
                let y = if core::ptr::eq(a, b) { &x } else { &y };
                ("·", self.product(&x, y)?, zip(&a.clear, &b.clear, S::times), a.depth.max(b.depth) + 1)
            }
            5 => {
                let [x, _] = self.levelled(a, a)?;
                ("squared", self.product(&x, &x)?, zip(&a.clear, &a.clear, S::times), a.depth + 1)
            }
            6 => {
                let plaintext = S::encode_slots(p, &plain, level)?;
                let product = e.multiply_plain(&a.ciphertext, &Multiplier::new(p, &plaintext, level))?;
                ("· plain", self.rescaled(product)?, zip(&a.clear, &plain, S::times), a.depth + 1)
            }
            7 => {
                let plaintext = S::encode_slots(p, &plain, level)?;
                let addend = Addend::new(p, &plaintext, level, a.ciphertext.shape().scaling);
                ("+ plain", e.add_plain(&a.ciphertext, &addend)?, zip(&a.clear, &plain, S::plus), a.depth)
            }
            _ => {
                let columns = S::slot_shape(p).unwrap().1;
                let moved = |i: usize| i / columns * columns + (i + 1) % columns;
                let clear = (0..a.clear.len()).map(|i| a.clear[moved(i)]).collect();
                ("rotated", e.rotate(&a.ciphertext, 1, &f.keys)?, clear, a.depth)
            }
        };
        let other = if matches!(kind, 0 | 1 | 3 | 4) { b.story.as_str() } else { "" };
        let story = format!("({} {name} {other})", a.story);
        Ok(Held { ciphertext, clear, depth, story })
    }

    fn judge(&mut self, held: &Held<S>) {
        let p = &self.fixture.params;
        let shape = held.ciphertext.shape();
        self.fixture.check(&held.story, &held.ciphertext, &held.clear);
        let plaintext = S::encode_slots(p, &held.clear, shape.level).unwrap();
        let decryptor = Decryptor::new(&self.fixture.secret);
        let measured = decryptor.measure_error_bits(&held.ciphertext, Some(plaintext.coefficients()));
        let (bound, estimate) = (shape.noise.error.0, shape.estimated(p).error.0);
        let told = format!(
            "{} n = {} depth {}: measured {measured:.1}, estimate {estimate:.1}, bound {bound:.1}: {}",
            S::ID,
            p.degree(),
            held.depth,
            held.story
        );
        assert!(measured <= bound, "more than the bound: {told}");
        assert!(bound <= measured + 12.0 + 4.0 * held.depth as f64, "a loose bound: {told}");
        assert!(held.depth > 3 || (estimate - measured).abs() <= 3.0, "a wrong estimate: {told}");
        let found = &mut self.found[held.depth];
        found.results += 1;
        found.slack = found.slack.max(bound - measured);
        found.off = (found.off.0.min(estimate - measured), found.off.1.max(estimate - measured));
    }

    fn run(mut self, programs: usize) {
        for _ in 0..programs {
            let mut held = vec![self.fresh(), self.fresh()];
            held.iter().for_each(|h| self.judge(h));
            for _ in 0..10 {
                match self.step(&held) {
                    Ok(next) if next.depth <= self.most_depth => {
                        self.judge(&next);
                        held.push(next);
                    }
                    _ => {}
                }
            }
        }
        for (depth, found) in self.found.iter().enumerate() {
            println!(
                "{} n = {} depth {depth}: {} results, bound − measured ≤ {:.1}, estimate − measured {:.1} … {:.1}",
                S::ID,
                self.fixture.params.degree(),
                found.results,
                found.slack,
                found.off.0,
                found.off.1
            );
        }
        assert!(self.found.iter().filter(|f| f.results > 0).count() > 1, "no products at all");
    }
}

fn run<S: Testable>(degree: usize, most_depth: usize, programs: usize, seed: u8) {
    // The deep suite runs more.
    let times = std::env::var("SOTTO_NOISE_PROGRAMS").map_or(1, |times| times.parse::<usize>().unwrap());
    let params = Params::default_chain(degree, S::plain_modulus(degree)).unwrap();
    Programs::<S>::new(params, most_depth, seed).run(programs * times);
}

#[test]
fn bfv() {
    run::<Bfv>(4096, 1, 10, 1);
    run::<Bfv>(8192, 3, 30, 2);
    run::<Bfv>(16384, 6, 8, 3);
}

#[test]
fn bgv() {
    run::<Bgv>(4096, 1, 10, 4);
    run::<Bgv>(8192, 3, 30, 5);
    run::<Bgv>(16384, 6, 8, 6);
}

#[test]
fn ckks() {
    run::<Ckks>(4096, 1, 10, 7);
    run::<Ckks>(8192, 3, 30, 8);
    run::<Ckks>(16384, 6, 10, 9);
}
