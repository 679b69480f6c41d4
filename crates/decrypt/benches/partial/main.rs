//! Tests if the time of the partially homomorphic schemes depends on messages or ciphertexts: `cargo ci
//! timing`.
//!
//! As in the lattice schemes' bench, a fixed class and a random one are compared, each from a pool of the
//! same size. A row beyond the limit is measured again, at most twice; it is a finding if all three exceed
//! the limit with one sign.

#[path = "../timing/welch.rs"]
mod welch;

use std::process::ExitCode;
use std::sync::Arc;

use chacha20::ChaCha20Rng;
use crypto_bigint::BoxedUint;
use rand_core::{Rng, SeedableRng};
use sotto_decrypt::partial::elgamal as open_elgamal;
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_keys::partial::{elgamal, paillier, ristretto};
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::number::from_words;
use welch::{LIMIT, Timings};

const POOL: usize = 64;

/// The inputs of both classes, which differ only as the class says.
type Pools<I> = [Vec<I>; 2];

fn pools<I>(mut fixed: impl FnMut() -> I, mut random: impl FnMut() -> I) -> Pools<I> {
    [(0..POOL).map(|_| fixed()).collect(), (0..POOL).map(|_| random()).collect()]
}

/// Measures and prints one row. Returns 1 if the result is not as expected, else 0. `leaks` is true for a
/// control that must leak.
fn row<I: Clone, O>(
    what: &str,
    count: usize,
    leaks: bool,
    pools: &Pools<I>,
    mut run: impl FnMut(&I) -> O,
) -> u32 {
    let mut coins = ChaCha20Rng::from_seed([21; 32]);
    let mut found = Vec::new();
    while found.len() < 3 {
        let input = |class: usize, i: usize| pools[class][i % POOL].clone();
        found.push(Timings::measure(count, &mut coins, input, &mut run).compare());
        if found.last().is_some_and(|c| (c.t.abs() >= LIMIT) == leaks) {
            break;
        }
    }
    let all_pass = found.iter().all(|c| c.t.abs() >= LIMIT && c.t.signum() == found[0].t.signum());
    let seen = if leaks { found.iter().any(|c| c.t.abs() >= LIMIT) } else { all_pass };
    let ts: Vec<String> = found.iter().map(|c| format!("{:+.1}", c.t)).collect();
    let verdict = match (seen, leaks) {
        (true, false) => "TIME DEPENDS ON THE CLASS",
        (false, true) => "THE CONTROL'S LEAK IS NOT DETECTED: THE MACHINE IS TOO BUSY",
        _ => "",
    };
    println!("{what:58} {:9.1} us  t = {:20} {verdict}", found[0].median / 1000.0, ts.join(", "));
    u32::from(seen != leaks)
}

fn paillier(rng: &mut ChaCha20Rng) -> u32 {
    let secret = paillier::SecretKey::generate(2048, paillier::Masking::HalfLength, rng).expect("a key");
    let key = secret.public_key().expect("a key");
    let decryptor = Decryptor::new(&secret).expect("a key");
    let mut words = ChaCha20Rng::from_rng(rng);
    let random = || from_words(&(0..31).map(|_| words.next_u64()).collect::<Vec<_>>());
    let plaintexts = pools(|| from_words(&[0; 31]), random);
    let mut coins = ChaCha20Rng::from_rng(rng);
    let encrypt = |m: &BoxedUint, coins: &mut ChaCha20Rng| {
        key.encrypt(&key.plaintext(m.clone()).expect("fits"), coins).expect("encrypts")
    };
    let base = encrypt(&plaintexts[1][0], &mut coins);
    let mut findings = row("paillier, control: branch on the message", 2_000, true, &plaintexts, |m| {
        // A few multiplications more or less than in an encryption.
        let sum = encrypt(m, &mut coins);
        if m.bits_vartime() > 0 { key.multiply_plain(&sum, 1 << 20) } else { key.add(&sum, &base) }
    });
    findings += row("paillier: encrypt zero or random messages", 4_000, false, &plaintexts, |m| {
        encrypt(m, &mut coins)
    });
    let one = encrypt(&plaintexts[1][0], &mut coins);
    let mut many = plaintexts[1].iter();
    let mut coins = ChaCha20Rng::from_seed([22; 32]);
    let ciphertexts =
        pools(|| one.clone(), || encrypt(many.next().expect("as many as the pool has"), &mut coins));
    findings += row("paillier: decrypt one or many ciphertexts", 2_000, false, &ciphertexts, |c| {
        decryptor.decrypt(&key, c).expect("decrypts")
    });
    findings
}

fn elgamal(rng: &mut ChaCha20Rng) -> u32 {
    let group = Arc::new(Group::new(GroupName::Ffdhe2048).expect("a group"));
    let secret = elgamal::SecretKey::generate(&group, rng);
    let key = secret.public_key();
    let mut words = ChaCha20Rng::from_rng(rng);
    let random = || from_words(&(0..31).map(|_| words.next_u64()).chain([0]).collect::<Vec<_>>());
    let mut one = vec![0; 32];
    one[0] = 1;
    let messages = pools(|| from_words(&one), random);
    let mut coins = ChaCha20Rng::from_rng(rng);
    let mut findings = row("elgamal: encrypt one or random messages", 3_000, false, &messages, |m| {
        key.encrypt(m, &mut coins).expect("encrypts")
    });
    let fixed = key.encrypt(&messages[1][0], rng).expect("encrypts");
    let mut many = messages[1].iter();
    let ciphertexts =
        pools(|| fixed.clone(), || key.encrypt(many.next().expect("as many"), rng).expect("encrypts"));
    findings += row("elgamal: decrypt one or many ciphertexts", 3_000, false, &ciphertexts, |c| {
        open_elgamal::decrypt(&secret, &key, c).expect("decrypts")
    });
    findings
}

fn ristretto(rng: &mut ChaCha20Rng) -> u32 {
    let key = ristretto::SecretKey::generate(rng).public_key().expect("a key");
    let mut words = ChaCha20Rng::from_rng(rng);
    let messages = pools(|| 0, || (words.next_u64() >> 24) as i64 - (1 << 39));
    row("elgamal-ristretto: encrypt zero or random messages", 20_000, false, &messages, |m| {
        key.encrypt(*m, rng).expect("encrypts")
    })
}

fn main() -> ExitCode {
    println!("the limit is |t| = {LIMIT}");
    let mut rng = ChaCha20Rng::from_seed([20; 32]);
    let findings = paillier(&mut rng) + elgamal(&mut rng) + ristretto(&mut rng);
    println!("{findings} findings");
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
