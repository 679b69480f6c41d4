//! A weighted sum of squares of eight encrypted readings: the program that docs/guides/side-by-side.md shows in five
//! libraries.

use std::time::Instant;

// [program
use sotto::{Ckks, Context, Encrypted, Plan, Public, Result, Secret};

/// Σ wᵢ·(xᵢ − 20)²: temperatures in °C, weights in percent.
fn spread(v: &[Encrypted<Ckks>]) -> Result<Encrypted<Ckks>> {
    (&v[0] - 20.0)?.square()?.dot(&v[1])
}

/// The owner makes keys, and sends the public ones. The answer's error bound is at most `error`, before rounding.
fn keys(error: f64) -> Result<(Secret<Ckks>, Plan<Ckks>, Vec<u8>)> {
    let context =
        Context::<Ckks>::builder().values_within(100.0).error_within(error).build_for(&[8, 8], spread)?;
    let plan = context.plan(&[8, 8], spread)?;
    let (secret, public) = context.keys_for(&plan, &mut sotto::secure_rng()?)?;
    Ok((secret, plan, public.to_bytes()))
}

/// The device encrypts.
fn encrypt(secret: &Secret<Ckks>, x: &[f64], w: &[f64]) -> Result<[Vec<u8>; 2]> {
    Ok([secret.encrypt_to_bytes(x)?, secret.encrypt_to_bytes(w)?])
}

/// The cloud computes.
fn compute(keys: &[u8], x: &[u8], w: &[u8]) -> Result<Vec<u8>> {
    let public = Public::<Ckks>::from_bytes(keys)?;
    spread(&[public.read(x)?, public.read(w)?])?.to_bytes()
}

/// The owner decrypts.
fn decrypt(secret: &Secret<Ckks>, plan: &Plan<Ckks>, answer: &[u8]) -> Result<f64> {
    Ok(secret.decrypt_answer(answer, plan)?.value() / 100.0)
}
// program]

const X: [f64; 8] = [18.25, 19.5, 20.75, 21.0, 22.4, 23.85, -3.1, 20.0];
const W: [f64; 8] = [5.0, 10.0, 15.0, 20.0, 20.0, 15.0, 10.0, 5.0];

fn main() -> Result<()> {
    let error = std::env::args().nth(1).and_then(|error| error.parse().ok()).unwrap_or(1.0);
    let start = Instant::now();
    let (secret, plan, public) = keys(error)?;
    let keys_made = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let [x, w] = encrypt(&secret, &X, &W)?;
    let encrypted = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let answer = compute(&public, &x, &w)?;
    let computed = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let found = decrypt(&secret, &plan, &answer)?;
    let decrypted = start.elapsed().as_secs_f64();
    let exact: f64 = X.iter().zip(W).map(|(x, w)| w * (x - 20.0) * (x - 20.0)).sum::<f64>() / 100.0;
    println!("bytes   keys {}, x {}, w {}, answer {}", public.len(), x.len(), w.len(), answer.len());
    println!(
        "seconds keys {keys_made:.4}, encrypt {encrypted:.4}, cloud {computed:.4}, decrypt {decrypted:.4}"
    );
    println!("answer  {found:.6}, exact {exact:.6}, error {:.1e}", (found - exact).abs());
    println!("bound   {:.1e}", secret.decrypt_answer(&answer, &plan)?.bound() / 100.0);
    println!("{plan}");
    Ok(())
}
