//! Runs Paillier operations from lines on standard input, for `spec/paillier_compare.py`: numbers in
//! hexadecimal, one answer a line.

use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::Instant;

use sotto_decrypt::partial::paillier::Decryptor;
use sotto_keys::partial::paillier::{Masking, SecretKey};
use sotto_partial::number::{from_bytes, words};
use sotto_partial::paillier::{Ciphertext, PublicKey};
use sotto_ring::secure_rng;

/// The current key, in the forms that the operations need.
struct State {
    secret: SecretKey,
    public: PublicKey,
    without_table: PublicKey,
    decryptor: Decryptor,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut state = None;
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = answer(&mut state, &line.split_whitespace().collect::<Vec<_>>())?;
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(state: &mut Option<State>, words: &[&str]) -> Result<String, Failure> {
    let mut rng = secure_rng()?;
    match words {
        ["generate", bits, masking] => {
            let masking = match *masking {
                "half" => Masking::HalfLength,
                "subgroup" => Masking::Subgroup,
                _ => Masking::Textbook,
            };
            keep(state, SecretKey::generate(bits.parse()?, masking, &mut rng)?)
        }
        ["load", p, q] => keep(state, SecretKey::from_primes(number(p)?, number(q)?)?),
        rest => with_key(state.as_ref().ok_or("no key yet")?, rest),
    }
}

fn keep(state: &mut Option<State>, secret: SecretKey) -> Result<String, Failure> {
    let (p, q) = secret.expose_secret_primes();
    let text = [secret.modulus(), p, q].map(|x| hexadecimal(&x.to_be_bytes())).join(" ");
    *state = Some(State {
        public: secret.public_key()?,
        without_table: secret.public_key()?.without_table(),
        decryptor: Decryptor::new(&secret)?,
        secret,
    });
    Ok(text)
}

fn with_key(state: &State, words: &[&str]) -> Result<String, Failure> {
    let mut rng = secure_rng()?;
    let key = &state.public;
    let read = |text: &str| -> Result<Ciphertext, Failure> {
        let bytes = number(text)?.to_be_bytes();
        let (length, excess) = (key.ciphertext_bytes(), bytes.len().saturating_sub(key.ciphertext_bytes()));
        let mut padded = vec![0; length.saturating_sub(bytes.len())];
        padded.extend(&bytes[excess..]);
        Ok(key.read(&padded)?)
    };
    Ok(match words {
        ["encrypt", m] => hexadecimal(&key.write(&key.encrypt(&key.plaintext(number(m)?)?, &mut rng)?)),
        ["decrypt", c] => hexadecimal(&state.decryptor.decrypt(key, &read(c)?)?.value().to_be_bytes()),
        ["add", a, b] => hexadecimal(&key.write(&key.add(&read(a)?, &read(b)?)?)),
        ["multiply", a, k] => hexadecimal(&key.write(&key.multiply_plain(&read(a)?, k.parse()?)?)),
        ["time", what, repetitions] => format!("{:.3}", time(state, what, repetitions.parse()?)?),
        other => {
            return Err(
                format!("not understood: {other:?}, key of {} bits", state.secret.modulus().bits()).into()
            );
        }
    })
}

/// Returns the shortest of `repetitions` times, in microseconds.
fn time(state: &State, what: &str, repetitions: u32) -> Result<f64, Failure> {
    let mut rng = secure_rng()?;
    let key = &state.public;
    let a = key.encrypt(&key.signed(12_345), &mut rng)?;
    let b = key.encrypt(&key.signed(-7), &mut rng)?;
    let bytes = key.write(&a);
    let mut least = f64::INFINITY;
    for _ in 0..repetitions {
        let start = Instant::now();
        match what {
            "encrypt" => drop(black_box(key.encrypt(&key.signed(12_345), &mut rng)?)),
            "encrypt-no-table" => {
                drop(black_box(state.without_table.encrypt(&key.signed(12_345), &mut rng)?));
            }
            "mask" => drop(black_box(key.mask(&mut rng))),
            "decrypt" => drop(black_box(state.decryptor.decrypt(key, &a)?.to_signed(key))),
            "add" => drop(black_box(key.add(&a, &b)?)),
            "subtract" => drop(black_box(key.subtract(&a, &b)?)),
            "multiply" => drop(black_box(key.multiply_plain(&a, (1 << 59) + 3)?)),
            "read" => drop(black_box(key.read(&bytes)?)),
            "write" => drop(black_box(key.write(&a))),
            other => return Err(format!("no operation {other}").into()),
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(least)
}

fn number(text: &str) -> Result<crypto_bigint::BoxedUint, Failure> {
    let even = if text.len().is_multiple_of(2) { text.to_owned() } else { format!("0{text}") };
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap_or("?"), 16);
    let bytes = even.as_bytes().chunks(2).map(byte).collect::<Result<Vec<u8>, _>>()?;
    let number = from_bytes(&bytes);
    // Drops leading zeros, which would raise the precision.
    Ok(sotto_partial::number::from_words(&words(&number)))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let trimmed = text.trim_start_matches('0');
    if trimmed.is_empty() { "0".to_owned() } else { trimmed.to_owned() }
}
