//! A weighted sum of squares of eight encrypted readings with tfhe-rs.

mod program;

use std::time::Instant;

const X: [i16; 8] = [1825, 1950, 2075, 2100, 2240, 2385, -310, 2000];
const W: [u8; 8] = [5, 10, 15, 20, 20, 15, 10, 5];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let (secret, public) = program::keys()?;
    let keys_made = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let [x, w] = program::encrypt(&secret, &X, &W)?;
    let encrypted = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let answer = program::compute(&public, &x, &w)?;
    let computed = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let found = program::decrypt(&secret, &answer)?;
    let decrypted = start.elapsed().as_secs_f64();
    let term = |(x, w): (&i16, &u8)| f64::from(*w) * f64::from(*x - 2000).powi(2);
    let exact = X.iter().zip(&W).map(term).sum::<f64>() / 1e6;
    println!("bytes   keys {}, x {}, w {}, answer {}", public.len(), x.len(), w.len(), answer.len());
    println!(
        "seconds keys {keys_made:.4}, encrypt {encrypted:.4}, cloud {computed:.4}, decrypt {decrypted:.4}"
    );
    println!("answer  {found:.6}, exact {exact:.6}, error {:.1e}", (found - exact).abs());
    Ok(())
}
