//! Tests if the time of encryption and decryption depends on secrets: `cargo ci timing`.
//!
//! For each scheme at n = 1024, compares times of a fixed class and a random class of inputs: plaintexts (all
//! zero or random) for encoding and encrypting with the secret and the public key, ciphertexts for decrypting
//! and decoding, secret keys for both. Inputs lie in pools of the same size and are copied before the clock
//! starts, for both classes. Two controls show that the test works: one with the same distribution in both
//! classes, one whose operation branches on its values.
//!
//! A row whose |t| exceeds the limit is measured again, at most twice; it is a finding if all three exceed it
//! with one sign. A control whose leak is not detected is measured again too. If it is never detected, the
//! other rows of its scheme prove nothing.

mod welch;

use std::hint::black_box;
use std::process::ExitCode;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_ring::{SmallPoly, primes};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, KeyId, ParameterSpec, Params, Scheme};
use welch::{Comparison, LIMIT, Timings};

const DEGREE: usize = 1024;
const COUNT: usize = 40_000;
const POOL: usize = 128;
const KEY: KeyId = KeyId([1; 16]);

/// The differences between the schemes in this bench.
trait Timed: Scheme {
    /// Plain modulus or log2 of the scale.
    const PLAIN: u64;
    fn random(rng: &mut impl Rng) -> Self::Value;
}

macro_rules! integers {
    ($($scheme:ty),*) => {$(
        impl Timed for $scheme {
            const PLAIN: u64 = 12_289;
            fn random(rng: &mut impl Rng) -> i64 {
                (rng.next_u64() % 12_289) as i64 - 6_144
            }
        }
    )*};
}
integers!(Bfv, Bgv);

impl Timed for Ckks {
    const PLAIN: u64 = 40;
    fn random(rng: &mut impl Rng) -> f64 {
        (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// The inputs of both classes, which differ only as the class says.
type Pools<I> = [Vec<I>; 2];

struct Bench<S: Timed> {
    params: Params<S>,
    key: SecretKey<S>,
    rng: ChaCha20Rng,
    findings: u32,
}

impl<S: Timed> Bench<S> {
    fn new() -> Self {
        let mut rng = ChaCha20Rng::from_seed([17; 32]);
        let data = primes::below((1 << 50) - (1 << 40), DEGREE).take(1);
        let spec = ParameterSpec {
            scheme: S::ID,
            degree: DEGREE,
            digit_primes: 1,
            special: Vec::new(),
            data: data.chain(primes::below(1 << 40, DEGREE).take(1)).collect(),
            plain: S::PLAIN,
        };
        let params = Params::insecure(spec).expect("the parameters are good");
        let key = SecretKey::from_secret(&params, KEY, &SmallPoly::ternary(DEGREE, &mut rng));
        Self { params, key, rng, findings: 0 }
    }

    /// Returns fresh coins, so that a repeated row does not repeat its coin tosses.
    fn coins(&mut self) -> ChaCha20Rng {
        ChaCha20Rng::from_rng(&mut self.rng)
    }

    fn values(&mut self) -> Vec<S::Value> {
        let (rows, columns) = S::slot_shape(&self.params).expect("there are slots");
        (0..rows * columns).map(|_| S::random(&mut self.rng)).collect()
    }

    /// Makes the two classes: all zero, and random.
    fn plaintexts(&mut self) -> Pools<Vec<S::Value>> {
        let random: Vec<Vec<S::Value>> = (0..POOL).map(|_| self.values()).collect();
        [vec![vec![S::Value::default(); random[0].len()]; POOL], random]
    }

    fn ciphertext(&mut self, key: &SecretKey<S>, values: &[S::Value]) -> Ciphertext<S> {
        let plain = S::encode_slots(&self.params, values, self.params.top_level()).expect("encodes");
        key.encrypt(&plain, &mut self.rng).expect("encrypts").expand()
    }

    /// Makes the two classes: copies of one secret, and different secrets.
    fn secrets(&mut self) -> Pools<SmallPoly> {
        let one = SmallPoly::ternary(DEGREE, &mut self.rng);
        let copy = |_| SmallPoly::from_coefficients(one.coefficients().to_vec());
        let many = (0..POOL).map(|_| SmallPoly::ternary(DEGREE, &mut self.rng)).collect();
        [(0..POOL).map(copy).collect(), many]
    }

    /// Makes the key anew before the clock starts, so that its address does not depend on its class.
    fn key_of(&self, secret: &SmallPoly) -> SecretKey<S> {
        SecretKey::from_secret(&self.params, KEY, secret)
    }

    /// Measures one row, again if the rule says so, and prints it.
    fn row(&mut self, what: &str, expect_leak: bool, mut measure: impl FnMut(&mut Self) -> Timings) {
        let mut found: Vec<Comparison> = vec![measure(self).compare()];
        let passes = |c: &Comparison| c.t.abs() >= LIMIT;
        while found.len() < 3 && found.iter().all(|c| passes(c) != expect_leak) {
            found.push(measure(self).compare());
        }
        let one_sign = found.iter().all(|c| c.t.signum() == found[0].t.signum());
        let leaks = if expect_leak { found.iter().any(passes) } else { found.iter().all(passes) && one_sign };
        let verdict = match (leaks, expect_leak) {
            (true, false) => "TIME DEPENDS ON THE CLASS",
            (false, true) => "THE CONTROL'S LEAK IS NOT DETECTED: THE MACHINE IS TOO BUSY",
            (true, true) => "detected, as it must be",
            (false, false) => "",
        };
        self.findings += u32::from(leaks != expect_leak);
        let ts: Vec<String> = found.iter().map(|c| format!("{:+.1}", c.t)).collect();
        let line = format!(
            "{:5} {what:58} {:9.1} us  t = {:24} {verdict}",
            S::ID.name(),
            found[0].median / 1000.0,
            ts.join(", ")
        );
        println!("{}", line.trim_end());
    }

    fn encryption(&mut self) {
        let public = self.key.public_key(&mut self.rng);
        let top = self.params.top_level();
        let pools = self.plaintexts();
        let twice = [pools[1].clone(), pools[1].clone()];
        let mut rng = ChaCha20Rng::from_seed([18; 32]);
        let copy = |pools: &Pools<Vec<S::Value>>, class: usize, i: usize| pools[class][i % POOL].clone();
        let encode = |bench: &Self, values: &Vec<S::Value>| {
            S::encode_slots(&bench.params, values, top).expect("encodes")
        };
        let mut secret_key = |bench: &mut Self, pools: &Pools<Vec<S::Value>>, branch: bool| {
            let mut coins = bench.coins();
            Timings::measure(
                COUNT,
                &mut coins,
                |class, i| copy(pools, class, i),
                |values| {
                    if branch {
                        for value in values {
                            if *value != S::Value::default() {
                                // A few cycles, as a reduction takes: a smaller leak may hide behind the
                                // loop.
                                for _ in 0..8 {
                                    black_box(value);
                                }
                            }
                        }
                    }
                    bench.key.encrypt(&encode(bench, values), &mut rng).expect("encrypts")
                },
            )
        };
        self.row("control: encrypt, random plaintexts in both classes", false, |b| {
            secret_key(b, &twice, false)
        });
        self.row("control: encrypt, and branch on the values", true, |b| secret_key(b, &pools, true));
        self.row("encode, encrypt with the secret key: zero or random values", false, |b| {
            secret_key(b, &pools, false)
        });
        let mut rng = ChaCha20Rng::from_seed([19; 32]);
        self.row("encode, encrypt with the public key: zero or random values", false, |bench| {
            let mut coins = bench.coins();
            Timings::measure(
                COUNT,
                &mut coins,
                |class, i| copy(&pools, class, i),
                |values| public.encrypt(&encode(bench, values), &mut rng).expect("encrypts"),
            )
        });
        let secrets = self.secrets();
        self.row("encode, encrypt with the secret key: one or many secrets", false, |bench| {
            let mut coins = bench.coins();
            let input =
                |class: usize, i: usize| (bench.key_of(&secrets[class][i % POOL]), copy(&pools, 1, i / 3));
            Timings::measure(COUNT, &mut coins, input, |(key, values)| {
                key.encrypt(&encode(bench, values), &mut rng).expect("encrypts")
            })
        });
    }

    fn decryption(&mut self) {
        let key = SecretKey::from_secret(&self.params, KEY, &SmallPoly::ternary(DEGREE, &mut self.rng));
        let [zeros, random] = self.plaintexts();
        let one = self.ciphertext(&key, &zeros[0]);
        let many: Vec<Ciphertext<S>> = random.iter().map(|values| self.ciphertext(&key, values)).collect();
        let pools = [vec![one; POOL], many];
        let open = |key: &SecretKey<S>, ciphertext: &Ciphertext<S>| {
            Decryptor::new(key).slots(ciphertext).expect("decrypts")
        };
        self.row("decrypt, decode: one ciphertext of zeros or many of random", false, |bench| {
            let mut coins = bench.coins();
            let input = |class: usize, i: usize| pools[class][i % POOL].clone();
            Timings::measure(COUNT, &mut coins, input, |ciphertext| open(&key, ciphertext))
        });
        let secrets = self.secrets();
        let [one, many] = [0, 1].map(|class: usize| {
            let pairs = secrets[class].iter().zip(&random);
            pairs
                .map(|(secret, values)| self.ciphertext(&self.key_of(secret), values))
                .collect::<Vec<Ciphertext<S>>>()
        });
        let pools = [one, many];
        self.row("decrypt, decode: one or many secrets, random ciphertexts", false, |bench| {
            let mut coins = bench.coins();
            let input = |class: usize, i: usize| {
                (bench.key_of(&secrets[class][i % POOL]), pools[class][i % POOL].clone())
            };
            Timings::measure(COUNT, &mut coins, input, |(key, ciphertext)| open(key, ciphertext))
        });
    }
}

fn scheme<S: Timed>() -> u32 {
    let mut bench = Bench::<S>::new();
    bench.encryption();
    bench.decryption();
    bench.findings
}

fn main() -> ExitCode {
    println!("n = {DEGREE}, {COUNT} timings a row; the limit is |t| = {LIMIT}");
    let findings = scheme::<Bfv>() + scheme::<Bgv>() + scheme::<Ckks>();
    println!("{findings} findings");
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
