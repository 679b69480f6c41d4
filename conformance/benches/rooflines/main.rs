//! Breaks down the operations that take longest beside other libraries: `cargo bench -p sotto-conformance --bench
//! rooflines`. Each part is timed separately, or at its place in the operation (`turns.rs`), in buffers of the
//! operation's own sizes. The sum of the parts is compared with the whole: only faster parts can reduce the accounted
//! time. Prints medians in microseconds. Where memory is the limit, also prints the bytes to read, and the rate of a
//! plain sum over as many bytes.

mod decryption;
mod encryption;
mod key_switch;
mod keys;
mod parts;
mod product;
mod sums;
mod switching;
mod turns;

use sotto_conformance::{Fixture, Testable};
use sotto_rlwe::{Bfv, Bgv, ChainRequest, Ckks, Params, SchemeId};

/// Every operation of a scheme.
fn operations<S: Testable>(f: &mut Fixture<S>) {
    encryption::encoding(f);
    encryption::encryption(f);
    keys::key_generation(f);
    keys::evaluation_keys(f, &[]);
    keys::evaluation_keys(f, &f.params.power_of_two_steps());
    if S::ID != SchemeId::Ckks {
        decryption::decryption(f);
        decryption::parsing(f);
    }
    sums::sums(f);
    if S::ID != SchemeId::Bfv {
        product::multiply(f);
    }
    switching::product_and_relinearisation(f);
    switching::rotation(f);
    switching::hoisted(f);
    switching::division(f);
}

/// The chain that the lab uses for BGV at n = 4096: three small data primes.
fn bgv(degree: usize) -> Fixture<Bgv> {
    if degree != 4096 {
        return Fixture::default_chain(degree, 1);
    }
    let request = ChainRequest { data_bits: Some(78), ..ChainRequest::new(SchemeId::Bgv, degree, 65_537) };
    Fixture::new(Params::new(request.build().expect("a chain")).expect("parameters"), 1)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let degrees: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let asked = |scheme: &str| {
        let named = |name: &&str| arguments.iter().any(|argument| argument == name);
        named(&scheme) || !["bfv", "bgv", "ckks"].iter().any(named)
    };
    for degree in if degrees.is_empty() { vec![4096, 8192, 16384, 32768] } else { degrees } {
        if asked("bfv") {
            let mut f = Fixture::<Bfv>::default_chain(degree, 1);
            operations(&mut f);
            product::bfv(&mut f);
        }
        if asked("bgv") {
            operations(&mut bgv(degree));
        }
        if asked("ckks") {
            let mut f = Fixture::<Ckks>::default_chain(degree, 1);
            operations(&mut f);
            decryption::parsing(&mut f);
        }
    }
}
