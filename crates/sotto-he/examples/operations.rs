//! Times operations on request, for comparison with other languages (bindings/python/benches/overhead.py).
//!
//! Reads lines `NAME REPETITIONS` and answers each with a line of JSON: `{"operation":"add","seconds":2.1e-5}`, the mean
//! of the repetitions. Arguments: `reals` or `integers`, the depth, the number of values.

use std::hint::black_box;
use std::io::{BufRead as _, Write as _};
use std::ops::{Add, Mul};
use std::time::Instant;

use sotto::{Arithmetic, Bfv, Ckks, Context, Encrypted, Public, Result, Secret};

/// The largest absolute value of an input.
const WITHIN: f64 = 100.0;

/// Two vectors of one key, and public operands.
struct Operands<S: Arithmetic> {
    secret: Secret<S>,
    public: Public<S>,
    values: Vec<S::Value>,
    plain: Vec<S::Value>,
    coefficients: [S::Value; 4],
    indices: Vec<usize>,
    x: Encrypted<S>,
    y: Encrypted<S>,
    bytes: Vec<u8>,
}

impl<S: Arithmetic> Operands<S>
where
    for<'a> &'a Encrypted<S>: Add<&'a [S::Value], Output = Result<Encrypted<S>>>,
    for<'a> &'a Encrypted<S>: Mul<&'a [S::Value], Output = Result<Encrypted<S>>>,
    for<'a> &'a Encrypted<S>: Add<S::Value, Output = Result<Encrypted<S>>>,
    for<'a> &'a Encrypted<S>: Mul<S::Value, Output = Result<Encrypted<S>>>,
{
    fn new(context: &Context<S>, count: usize, value: impl Fn(usize) -> S::Value) -> Result<Self> {
        let (secret, public) = context.keys(&mut sotto::secure_rng()?)?;
        let values: Vec<_> = (0..count).map(|i| value(i * 7 % 50)).collect();
        let plain: Vec<_> = (0..count).map(|i| value(i * 11 % 30)).collect();
        let x = secret.encrypt_within(&values, WITHIN)?;
        let y = secret.encrypt_within(&plain, WITHIN)?;
        let (bytes, indices) = (x.to_bytes()?, (0..10).map(|i| i * 97 % count).collect());
        let coefficients = [1, 2, 3, 1].map(value);
        Ok(Self { secret, public, values, plain, coefficients, indices, x, y, bytes })
    }

    /// Returns the operation with a name.
    #[allow(clippy::type_complexity)]
    fn named(&self, name: &str) -> Option<Box<dyn Fn() -> Result<()> + '_>> {
        let Self { secret, public, values, plain, coefficients, indices, x, y, bytes } = self;
        let number = coefficients[1];
        Some(match name {
            "encrypt" => Box::new(move || secret.encrypt_within(values, WITHIN).map(done)),
            "decrypt" => Box::new(move || secret.decrypt(x).map(|answer| done(answer.into_values()))),
            "+" => Box::new(move || (x + y).map(done)),
            "-" => Box::new(move || (x - y).map(done)),
            "*" => Box::new(move || (x * y).map(done)),
            "+ plain" => Box::new(move || (x + &plain[..]).map(done)),
            "* plain" => Box::new(move || (x * &plain[..]).map(done)),
            "+ number" => Box::new(move || (x + number).map(done)),
            "* number" => Box::new(move || (x * number).map(done)),
            "** 2" => Box::new(move || x.square().map(done)),
            "polynomial" => Box::new(move || x.polynomial(coefficients).map(done)),
            "sum" => Box::new(move || x.sum().map(done)),
            "dot" => Box::new(move || x.dot(y).map(done)),
            "dot plain" => Box::new(move || x.dot_plain(plain).map(done)),
            "select" => Box::new(move || x.select(indices).map(done)),
            "to bytes" => Box::new(move || x.to_bytes().map(done)),
            "from bytes" => Box::new(move || public.read(bytes).map(done)),
            _ => return None,
        })
    }

    /// Answers lines until there are no more.
    fn answer(&self) -> std::result::Result<(), Box<dyn std::error::Error>> {
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            let (name, repetitions) = line.rsplit_once(' ').ok_or("a line is `NAME REPETITIONS`")?;
            let repetitions: u32 = repetitions.parse()?;
            let operation = self.named(name).ok_or_else(|| format!("there is no operation {name}"))?;
            let start = Instant::now();
            for _ in 0..repetitions {
                operation()?;
            }
            let seconds = start.elapsed().as_secs_f64() / f64::from(repetitions);
            println!("{{\"operation\":\"{name}\",\"seconds\":{seconds:e}}}");
            std::io::stdout().flush()?;
        }
        Ok(())
    }
}

/// Keeps the compiler from leaving out a result that nobody reads.
fn done<T>(result: T) {
    drop(black_box(result));
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [numbers, depth, count] = &arguments[..] else {
        return Err("arguments: reals|integers DEPTH COUNT".into());
    };
    let (depth, count) = (depth.parse()?, count.parse()?);
    match numbers.as_str() {
        "reals" => {
            let context = Context::<Ckks>::builder().depth(depth).values_within(1.0).build()?;
            report(context.params().degree());
            Operands::new(&context, count, |i| i as f64)?.answer()
        }
        "integers" => {
            let builder = Context::<Bfv>::builder().depth(depth);
            let context = builder.values_within(1e10).results_within(1e10).build()?;
            report(context.params().degree());
            Operands::new(&context, count, |i| i as i64)?.answer()
        }
        other => Err(format!("{other} is neither reals nor integers").into()),
    }
}

fn report(degree: usize) {
    println!("{{\"degree\":{degree}}}");
}
