//! Reads 100,000 mutants of our frames: single bits, truncations, splices, lengths. Each must be refused without a
//! panic, and within the memory that its size allows.

use std::path::Path;

use sotto_conformance::Testable;
use sotto_conformance::golden::{self, MOST_KEYS, insecure_n16};
use sotto_fuzz::{Mutation, Mutator, corpus, resealed, target};
use sotto_keys::partial::RecryptorSecret;
use sotto_keys::{KeyFile, SigningIdentity};
use sotto_rlwe::{Bfv, Bgv, Ckks, Params};
use sotto_wire::*;

/// Mutants of each kind.
const EACH: usize = 25_000;
/// Bytes of memory for the text of a refusal.
const WORDS: u64 = 512;

/// Returns true if a reader accepts the bytes.
type Accepts = Box<dyn Fn(&[u8]) -> bool>;

struct Object {
    what: String,
    bytes: Vec<u8>,
    accepts: Accepts,
    /// The most bytes of memory for each byte of the frame, once the object is read.
    factor: u64,
    /// True if accepting the object makes tables, whose memory and time its size does not bound.
    tables: bool,
}

fn object(what: &str, factor: u64, accepts: impl Fn(&[u8]) -> bool + 'static) -> Object {
    Object {
        what: what.to_owned(),
        bytes: golden::read(what),
        accepts: Box::new(accepts),
        factor,
        tables: false,
    }
}

/// Residues of 40 and 41 bits take 64; key-switching keys are expanded, with masks as long as their bodies.
fn objects_of<S: Testable>() -> Vec<Object> {
    let params = insecure_n16::<S>();
    let file = |what: &str| format!("{}-{what}.bin", S::ID.name());
    let ciphertext = |what: &str| {
        let params = params.clone();
        object(&file(what), 8, move |bytes| AnyCiphertext::read(bytes, &params).is_ok())
    };
    let public_key = |what: &str| {
        let params = params.clone();
        object(&file(what), 8, move |bytes| read_public_key(bytes, &params).is_ok())
    };
    let evaluation_keys = |what: &str| {
        let params = params.clone();
        object(&file(what), 16, move |bytes| read_evaluation_keys(bytes, &params, MOST_KEYS).is_ok())
    };
    let reduced = |what: &str| {
        let params = params.clone();
        object(&file(what), 8, move |bytes| read_reduced(bytes, &params).is_ok())
    };
    vec![
        ciphertext("seeded"),
        ciphertext("expanded"),
        ciphertext("tensor"),
        ciphertext("lower"),
        public_key("public-key"),
        public_key("public-key-written-out"),
        evaluation_keys("evaluation-keys"),
        evaluation_keys("evaluation-keys-written-out"),
        reduced("reduced"),
        reduced("reduced-selected"),
        object(&file("compact-slots"), 8, move |bytes| read_compact(bytes, &params).is_ok()),
        object(&file("parameters"), 4, |bytes| read_parameters(bytes).is_ok()),
    ]
}

fn objects() -> Vec<Object> {
    let identity = SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key();
    let mut all = objects_of::<Bfv>();
    all.extend(objects_of::<Bgv>());
    all.extend(objects_of::<Ckks>());
    all.push(object("plan.bin", 32, |bytes| read_plan(bytes).is_ok()));
    all.push(object("plan-with-forms.bin", 32, |bytes| read_plan(bytes).is_ok()));
    all.push(object("envelope.bin", 4, move |bytes| {
        Envelope::read(bytes, LARGEST_ENVELOPE).is_ok_and(|envelope| envelope.verify(&identity).is_ok())
    }));
    all.push(object("signed-header.bin", 4, move |bytes| {
        SignedHeader::read(bytes, LARGEST_ENVELOPE).is_ok_and(|signed| signed.verify(&identity).is_ok())
    }));
    all.push(object("position-request.bin", 4, move |bytes| {
        PositionRequest::read(bytes).is_ok_and(|request| request.verify(&identity).is_ok())
    }));
    all.push(object("heads-request.bin", 4, move |bytes| {
        HeadsRequest::read(bytes).is_ok_and(|request| request.verify(&identity).is_ok())
    }));
    all.push(object("order.bin", 16, move |bytes| {
        Order::read(bytes).is_ok_and(|order| order.verify(&identity).is_ok())
    }));
    // A bit that says whether more follow is in no signature: a device asks again, or goes on with what it has.
    all.push(object("heads.bin", 32, move |bytes| {
        Heads::read(bytes)
            .is_ok_and(|read| read.more && read.heads.iter().all(|head| head.verify(&identity).is_ok()))
    }));
    // Ids, and windows that are gone or unread, are the cloud's word.
    let page = golden::log_page();
    all.push(object("log-page.bin", 64, move |bytes| LogPage::read(bytes).is_ok_and(|read| read == page)));
    let toy = golden::insecure_n16::<Ckks>();
    all.push(object("slots-window-ciphertext.bin", 8, move |bytes| {
        SlotsWindow::read(bytes).is_ok_and(|window| window.compact(&toy).is_ok())
    }));
    // A description is read as bytes and kept both as values and as JSON.
    all.push(object("slots-stream-header.bin", 16, |bytes| StreamHeader::read(bytes).is_ok()));
    all.push(object("slots-window-kept.bin", 16, move |bytes| {
        Envelope::read_kept(bytes, LARGEST_ENVELOPE).is_ok_and(|envelope| envelope.verify(&identity).is_ok())
    }));
    for name in ["slots-window-signed.bin", "slots-member-signed.bin"] {
        all.push(object(name, 16, move |bytes| {
            SignedHeader::read(bytes, LARGEST_ENVELOPE).is_ok_and(|signed| signed.verify(&identity).is_ok())
        }));
    }
    all.push(object("stream-head.bin", 4, |bytes| {
        StreamHead::read(bytes).is_ok_and(|head| head.cloud == golden::cloud_key() && head.verify().is_ok())
    }));
    all.push(object("transcript-job.bin", 4, |bytes| {
        Transcript::read(bytes)
            .is_ok_and(|read| read.parts().cloud == golden::cloud_key() && read.verify().is_ok())
    }));
    all.push(object("sums-stream-header.bin", 32, |bytes| StreamHeader::read(bytes).is_ok()));
    all.push(object("sums-window-kept.bin", 32, move |bytes| {
        Envelope::read_kept(bytes, LARGEST_ENVELOPE).is_ok_and(|window| window.verify(&identity).is_ok())
    }));
    all.push(object("signed-sums.bin", 32, move |bytes| {
        SignedHeader::read(bytes, LARGEST_ENVELOPE).is_ok_and(|signed| signed.verify(&identity).is_ok())
    }));
    let sums = golden::sums_header();
    all.push(object("sums-answer.bin", 24, move |bytes| SumsAnswer::read(bytes, &sums, 1 << 16, 2).is_ok()));
    all.extend(partially_homomorphic());
    for (name, kind) in [("device.key", KeyFile::Device), ("signing.key", KeyFile::Signing)] {
        all.push(object(name, 4, move |bytes| kind.parse(bytes, Path::new(name), None).is_ok()));
    }
    all
}

/// A number's Montgomery form is as long as the number; the search for a common factor with the key takes a few numbers
/// more.
fn partially_homomorphic() -> Vec<Object> {
    let keys = golden::partial_keys();
    let limit = 1 << 20;
    let key = |what: &str, accepts: fn(&[u8]) -> bool| Object { tables: true, ..object(what, 4, accepts) };
    vec![
        key("paillier-public-key.bin", |bytes| read_paillier_public_key(bytes).is_ok()),
        key("elgamal-public-key.bin", |bytes| {
            read_elgamal_public_key(bytes, golden::partial_keys().group()).is_ok()
        }),
        key("ristretto-public-key.bin", |bytes| read_ristretto_public_key(bytes).is_ok()),
        key("recryptor.key", |bytes| RecryptorSecret::parse(bytes, Path::new("key"), None).is_ok()),
        object("paillier-ciphertexts.bin", 16, move |bytes| {
            read_paillier_ciphertexts(bytes, limit, &keys.paillier).is_ok()
        }),
        object("elgamal-ciphertexts.bin", 16, move |bytes| {
            read_elgamal_ciphertexts(bytes, limit, &keys.elgamal).is_ok()
        }),
        object("ristretto-ciphertexts.bin", 16, move |bytes| {
            read_ristretto_ciphertexts(bytes, limit, &keys.ristretto).is_ok()
        }),
        object("exchange-request.bin", 16, move |bytes| {
            read_exchange_request(bytes, limit, keys.exchange()).is_ok()
        }),
        object("exchange-response.bin", 16, move |bytes| {
            read_exchange_response(bytes, limit, keys.exchange()).is_ok()
        }),
    ]
}

/// Returns a fresh ciphertext at n = 4096, and the same written out.
fn large() -> Vec<Object> {
    let params = Params::<Bfv>::default_chain(4096, Bfv::plain_modulus(4096)).unwrap();
    let frames = corpus(&target("n4096-ciphertext-bfv").unwrap()).unwrap();
    let object = |(number, bytes): (usize, Vec<u8>)| {
        let params = params.clone();
        let accepts: Accepts = Box::new(move |bytes: &[u8]| AnyCiphertext::read(bytes, &params).is_ok());
        Object { what: format!("n = 4096, {number}"), bytes, accepts, factor: 4, tables: false }
    };
    frames.into_iter().enumerate().map(object).collect()
}

/// Refuses `each` mutants of each kind, shared among the objects; returns their number.
fn refuse(objects: &[Object], each: usize) -> usize {
    let (mut mutator, mut count) = (Mutator::new(1), 0);
    for sort in Mutation::ALL {
        let mut of_sort = 0;
        for number in 0.. {
            if of_sort == each {
                break;
            }
            let object = &objects[number % objects.len()];
            let other = &objects[(number / objects.len()) % objects.len()];
            let mut mutant = object.bytes.clone();
            mutator.change(sort, &mut mutant, &other.bytes);
            // A splice of equal bytes is no mutant, nor is one that yields another whole object.
            if objects.iter().any(|object| object.bytes == mutant) {
                continue;
            }
            let mut accepted = false;
            let memory = allocation_counter::measure(|| accepted = (object.accepts)(&mutant));
            let at = || format!("{} {sort:?} number {number}", object.what);
            assert!(!accepted, "{} is accepted", at());
            // Digest or head is wrong: the reader must allocate only the text of the refusal.
            assert!(memory.bytes_max <= WORDS, "{} took {} bytes", at(), memory.bytes_max);
            of_sort += 1;
        }
        count += of_sort;
    }
    count
}

#[test]
fn a_hundred_thousand_mutants_are_refused() {
    assert_eq!(refuse(&objects(), EACH), 100_000);
}

/// A window of version 2 has a signature instead of a digest.
#[test]
fn mutants_of_windows_are_refused() {
    // Memory of a description of the stream's channels, whatever the bytes say; for a group, one for each window.
    refuse_windows("slots-window.bin", "slots-window-kept.bin", 16 << 10);
    refuse_windows("slots-member.bin", "slots-group.bin", 16 << 10);
    refuse_windows("slots-group.bin", "slots-window.bin", 48 << 10);
}

fn refuse_windows(name: &str, other: &str, most: u64) {
    let (stream, bytes, other) = (golden::slots_header(), golden::read(name), golden::read(other));
    let key = SigningIdentity::from_bytes(&golden::SIGNING_KEY).verifying_key();
    let accepted = |bytes: &[u8]| {
        let alone = Envelope::read_window(bytes, &stream).is_ok_and(|window| window.verify(&key).is_ok());
        alone || WindowGroup::read(bytes, &stream).is_ok_and(|group| group.verify(&key).is_ok())
    };
    assert!(accepted(&bytes));
    let mut mutator = Mutator::new(3);
    for number in 0..20_000 {
        let mut mutant = bytes.clone();
        mutator.change(Mutation::ALL[number % 4], &mut mutant, &other);
        if mutant == bytes {
            continue;
        }
        let mut passed = false;
        let memory = allocation_counter::measure(|| passed = accepted(&mutant));
        assert!(!passed, "{name}: number {number} is accepted");
        assert!(memory.bytes_max <= most, "{name}: number {number} took {} bytes", memory.bytes_max);
    }
}

#[test]
fn mutants_at_n_4096_are_refused() {
    assert_eq!(refuse(&large(), 500), 2000);
}

/// A mutant with a correct digest is refused for its content, or is another valid object: in both cases within the
/// memory of an object of its size.
#[test]
fn mutants_with_a_right_digest_take_no_more_memory_than_their_bytes_allow() {
    let (mut objects, mut mutator) = (objects(), Mutator::new(2));
    objects.retain(|object| !object.tables);
    let mut accepted = 0;
    for number in 0..50_000 {
        let object = &objects[number % objects.len()];
        let other = &objects[(number / objects.len()) % objects.len()];
        let mut mutant = object.bytes.clone();
        mutator.change(Mutation::ALL[number / 7 % 4], &mut mutant, &other.bytes);
        let Some(mutant) = resealed(&mutant) else { continue };
        let memory = allocation_counter::measure(|| accepted += usize::from((object.accepts)(&mutant)));
        let most = object.factor * mutant.len() as u64 + WORDS;
        assert!(memory.bytes_max <= most, "{} number {number}: {} of {most}", object.what, memory.bytes_max);
    }
    assert!(accepted > 0, "some are another object, or nothing behind the digest was tried");
}

/// Refusing does part of the work of accepting: it must not allocate more than accepting the same object, wherever the
/// fault is. A fault in the head is found before hashing, without any allocation.
#[test]
fn a_refusal_costs_no_more_than_an_acceptance() {
    for object in objects().iter().chain(&large()) {
        let measured = |bytes: &[u8]| {
            let mut accepted = false;
            let info = allocation_counter::measure(|| accepted = (object.accepts)(bytes));
            (accepted, info.bytes_total, info.count_total)
        };
        let (accepted, good, count) = measured(&object.bytes);
        assert!(accepted, "{}", object.what);
        let length = object.bytes.len();
        for at in (0..length).step_by((length / 64).max(1)) {
            let mut bad = object.bytes.clone();
            bad[at] = !bad[at];
            let (accepted, total, _) = measured(&bad);
            assert!(!accepted && total <= WORDS, "{} byte {at}: {total}", object.what);
            let Some(bad) = resealed(&bad) else { continue };
            let (accepted, total, counted) = measured(&bad);
            if !accepted {
                let most = (good + WORDS, count + 4);
                assert!(
                    total <= most.0 && counted <= most.1,
                    "{} byte {at}: {total} of {}",
                    object.what,
                    most.0
                );
            }
        }
        let garbage = vec![0x73; length];
        assert!(measured(&garbage).1 <= WORDS, "{}", object.what);
    }
}
