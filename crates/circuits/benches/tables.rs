//! Exact comparisons, extremes and histograms: `cargo bench -p sotto-circuits --bench tables`. Prints, for both schemes and
//! on one core, the parameters that the chooser takes, the operations, and the time of each evaluation, also a reading. The
//! second column is the time on the processor (Linux), which other processes disturb less. Every result is compared with
//! the values in the clear.

// The example's owner has more functions than the benches use.
#[allow(unreachable_pub)]
mod owner {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../rlwe/tests/it/owner/mod.rs"));
}

use std::time::Instant;

use owner::Owner;
use sotto_circuits::{
    Chosen, CircuitError, Counted, Encrypted, Machine, Outline, PowerSums, Table, TwoDigits,
    choose_parameters, extremes,
};
use sotto_ring::Seed;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Evaluator, LevelRules, Origin, Params, Shape};

const T: u64 = 65_537;
const RUNS: usize = 7;

/// Milliseconds that this thread ran, where the system tells.
fn processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? / 1e6)
}

/// Runs the work several times and prints the fastest run.
fn time<T>(what: &str, readings: usize, mut work: impl FnMut() -> T) -> T {
    let (mut wall, mut own) = (f64::INFINITY, f64::INFINITY);
    let mut last = None;
    for _ in 0..RUNS {
        let (start, began) = (Instant::now(), processor());
        last = Some(work());
        wall = wall.min(start.elapsed().as_secs_f64() * 1e3);
        own = own.min(processor().zip(began).map_or(f64::NAN, |(end, start)| end - start));
    }
    let each = |ms: f64| ms * 1e3 / readings as f64;
    println!(
        "  {what:<26} {wall:>8.1} ms {own:>8.1} ms {:>7.2} µs {:>7.2} µs a reading",
        each(wall),
        each(own)
    );
    last.expect("several runs")
}

struct Setting<S: LevelRules<Value = i64>> {
    params: Params<S>,
    owner: Owner<S>,
    evaluator: Evaluator<S>,
}

impl<S: LevelRules<Value = i64>> Setting<S> {
    fn choose(
        what: &str,
        inputs: usize,
        circuit: impl Fn(&mut Outline<'_, S>, &[Shape<S>]) -> Result<Shape<S>, CircuitError>,
    ) -> Self {
        let chosen = choose_parameters(T, Origin::SecretKey, inputs, circuit).expect("parameters");
        let Chosen { spec, room, tally, .. } = chosen;
        println!(
            "{} {what}: n = {}, {} primes of {:.0} bits, {} special, {room:.1} bits left; {} products, {} \
             relinearisations, {} automorphisms",
            S::ID,
            spec.degree,
            spec.data.len(),
            spec.data_bits() / spec.data.len() as f64,
            spec.special.len(),
            tally.products,
            tally.relinearisations,
            tally.rotations
        );
        let params = Params::new(spec).expect("checked");
        let (owner, evaluator) = (Owner::new(&params, 1), Evaluator::new(&params));
        Self { params, owner, evaluator }
    }

    fn slots(&self) -> usize {
        self.params.degree()
    }

    fn encrypt(&self, values: &[i64], seed: u8) -> Ciphertext<S> {
        let plaintext = S::encode_slots(&self.params, values, self.params.top_level()).expect("encodes");
        self.owner.encrypt(&plaintext, Seed([seed; 24])).expect("encrypts").expand()
    }

    fn check(&self, found: &Ciphertext<S>, expected: impl Iterator<Item = i64>) {
        let slots = S::decode_slots(&self.params, &self.owner.decrypt(found)).expect("decodes");
        assert!(slots.into_iter().eq(expected), "exact");
    }
}

fn values(slots: usize, steps: usize) -> Vec<i64> {
    (0..slots).map(|i| ((i * i / 77 + i) % steps) as i64).collect()
}

fn eight_bits<S: LevelRules<Value = i64>>() {
    let table = Table::greater(0..=255, 80).expect("a table");
    let s = Setting::<S>::choose("8 bits", 1, |m, x| table.evaluate(m, &x[0]));
    let readings = values(s.slots(), 256);
    let (x, keys) = (s.encrypt(&readings, 1), s.owner.evaluation_keys(&[]));
    let mut machine = Encrypted::new(&s.evaluator, &keys);
    let above = time("x > 80", s.slots(), || table.evaluate(&mut machine, &x).expect("evaluates"));
    s.check(&above, readings.iter().map(|x| i64::from(*x > 80)));
    let tables: Vec<Table> = (0..8).map(|k| Table::greater(0..=255, 30 * k + 5).expect("a table")).collect();
    let all: Vec<&Table> = tables.iter().collect();
    time("8 limits at once", s.slots() * 8, || {
        for result in Table::evaluate_many(&mut machine, &all, &x).expect("evaluates") {
            machine.recycle(result);
        }
    });
}

fn twelve_bits<S: LevelRules<Value = i64>>() {
    let digits = TwoDigits::new(0..=4095, 64).expect("digits");
    let table = digits.greater(2000).expect("a table");
    let s = Setting::<S>::choose("12 bits", 2, |m, x| table.evaluate(m, &x[0], &x[1]));
    let readings = values(s.slots(), 4096);
    let [high, low] = [0, 1].map(|d| {
        let digit: Vec<i64> = readings.iter().map(|x| digits.split(*x).expect("in range")[d]).collect();
        s.encrypt(&digit, d as u8)
    });
    let keys = s.owner.evaluation_keys(&[]);
    let mut machine = Encrypted::new(&s.evaluator, &keys);
    let above = time("x > 2000", s.slots(), || table.evaluate(&mut machine, &high, &low).expect("evaluates"));
    s.check(&above, readings.iter().map(|x| i64::from(*x > 2000)));
}

fn pairs<S: LevelRules<Value = i64>>() {
    let s = Setting::<S>::choose("extremes", 2, |m, x| Ok(extremes(m, &x[0], &x[1], 0..=255)?[1]));
    let (a, b) = (values(s.slots(), 256), values(s.slots(), 251));
    let (x, y, keys) = (s.encrypt(&a, 1), s.encrypt(&b, 2), s.owner.evaluation_keys(&[]));
    let mut machine = Encrypted::new(&s.evaluator, &keys);
    let both = time("min and max of 8 bits", s.slots(), || {
        extremes(&mut machine, &x, &y, 0..=255).expect("evaluates")
    });
    s.check(&both[1], a.iter().zip(&b).map(|(a, b)| *a.max(b)));
}

fn histogram<S: LevelRules<Value = i64>>() {
    let sums = PowerSums::new(0..=255).expect("a range");
    let s = Setting::<S>::choose("histogram", 1, |m, x| Ok(sums.evaluate(m, &[&x[0]])?.vector));
    let readings = values(s.slots(), 256);
    let (x, keys) = (s.encrypt(&readings, 1), s.owner.evaluation_keys(&sums.rotations()));
    let mut machine = Encrypted::new(&s.evaluator, &keys);
    let packed = time("256 bins", s.slots(), || sums.evaluate(&mut machine, &[&x]).expect("evaluates"));
    let polynomial = s.owner.decrypt(&packed.vector);
    let facts = Counted { modulus: T, total: s.slots() as u64, copies: 1, factors: &packed.factors };
    let counts = time("the owner's counts", s.slots(), || {
        sums.counts(polynomial.coefficients(), &facts).expect("counts")
    });
    let mut expected = vec![0; 256];
    readings.iter().for_each(|x| expected[*x as usize] += 1);
    assert_eq!(counts, expected);
}

fn all<S: LevelRules<Value = i64>>() {
    eight_bits::<S>();
    twelve_bits::<S>();
    pairs::<S>();
    histogram::<S>();
}

fn main() {
    all::<Bgv>();
    all::<Bfv>();
}
