//! Selections against the clear: every slot of the result, dry runs, bytes, and the rotations that they take.

use sotto::{Bfv, Bgv, Ckks, Context, DeviceSecret, Encrypted, Error, Result};
use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;

use super::expressions::{Party, Public1, party};

/// Values within ±50 that differ from their neighbours.
fn values<S: Public1>(len: usize) -> Vec<S::Value> {
    (0..len).map(|i| S::value((i * 37 % 101) as f64 - 50.0)).collect()
}

fn every_slot<S: Public1>(party: &Party<S>, vector: &Encrypted<S>) -> Vec<f64> {
    let device = DeviceSecret::from_bytes(party.secret.device_secret().expose_secret_bytes());
    let key = SecretKey::derive(&device, party.secret.context().params());
    let decryptor = Decryptor::new(&key);
    let params = party.secret.context().params();
    let slots = |part| S::decode_slots(params, &decryptor.decrypt(part).unwrap()).unwrap();
    vector.ciphertexts().iter().flat_map(slots).map(S::real).collect()
}

/// Holds one selection against the clear: values, then the layout of a fresh vector in every slot.
fn selects<S: Public1>(party: &Party<S>, len: usize, indices: &[usize]) {
    let context = party.secret.context();
    let name = format!("{context}: {} of {len} values", indices.len());
    let input = values::<S>(len);
    let x = party.secret.encrypt(&input).unwrap();
    // Padding that is not zero has to disappear.
    let shifted = (&x + &party.secret.encrypt(&[S::value(3.0)]).unwrap()).unwrap();
    let found = shifted.select(indices).unwrap();
    let expected: Vec<f64> = indices.iter().map(|index| S::real(input[*index]) + 3.0).collect();
    let answer = party.secret.decrypt(&found).unwrap();
    assert_eq!(answer.values().len(), expected.len(), "{name}");
    for (i, (value, exact)) in answer.values().iter().zip(&expected).enumerate() {
        let off = (S::real(*value) - exact).abs();
        assert!(off <= answer.bound() && off < 0.01, "{name}: value {i} is off by {off}, {}", answer.bound());
    }
    let fresh = indices.iter().map(|index| S::value(S::real(input[*index]) + 3.0)).collect::<Vec<_>>();
    let fresh = party.secret.encrypt(&fresh).unwrap();
    // CKKS: slots of the result and of a fresh vector may have different units.
    let (slots, exact) = (every_slot(party, &found), every_slot(party, &fresh));
    let largest = (0..indices.len()).max_by(|a, b| exact[*a].abs().total_cmp(&exact[*b].abs())).unwrap();
    let unit = exact[largest] / slots[largest];
    for (slot, (value, exact)) in slots.iter().zip(exact).enumerate() {
        let same = (value * unit - exact).abs() < 1e-3;
        // Identity is not computed: it keeps its padding.
        assert!(same || indices.iter().copied().eq(0..len), "{name}: slot {slot} holds {value} for {exact}");
    }
    assert_eq!(found.ciphertexts().len(), fresh.ciphertexts().len(), "{name}");
    let total: f64 = expected.iter().sum();
    let sum = party.secret.decrypt(&found.sum().unwrap()).unwrap();
    assert!(
        (S::real(sum.value()) - total).abs() <= sum.bound(),
        "{name}: {} for {total}",
        S::real(sum.value())
    );
}

/// Lengths around one slot, a row and a ciphertext, in ranges, cycles, mirrored, repeated and scattered.
fn selections(slots: usize, columns: usize) -> Vec<(usize, Vec<usize>)> {
    let rolled = |len: usize, by: usize| (len, (0..len).map(|i| (i + by) % len).collect());
    let mut all = vec![
        (1, vec![0; 5]),
        (7, (0..7).collect()),
        (7, vec![6]),
        (7, vec![3, 4, 5]),
        (8, (0..8).rev().collect()),
        (5, vec![4, 4, 0, 1, 3, 2, 0, 0, 4, 1, 2]),
        (100, (90..100).collect()),
        (100, (0..300).map(|i| i * i % 100).collect()),
        (1000, (0..16).map(|i| i * 61).collect()),
        (3, (0..columns + 9).map(|i| i % 3).collect()),
        (columns, (5..columns).collect()),
        (columns + 3, (0..columns + 1).map(|i| i + 2).collect()),
        (slots + 5, (columns - 2..columns + 2).chain(slots - 2..slots + 5).collect()),
        (2 * slots + 5, (slots..2 * slots).collect()),
        (2 * slots, (7..slots + 20).collect()),
    ];
    all.extend([
        rolled(8, 3),
        rolled(6, 1),
        rolled(columns, columns - 1),
        rolled(slots, columns),
        rolled(slots, 1),
    ]);
    all
}

fn each<S: Public1>(context: &Context<S>, columns: usize) {
    let party = party(context);
    for (len, indices) in selections(context.slots(), columns) {
        selects(&party, len, &indices);
    }
}

#[test]
fn values_and_every_slot_are_those_of_a_fresh_vector() {
    let real = Context::<Ckks>::builder().values_within(64.0).depth(2).build().unwrap();
    each(&real, real.slots());
    let exact = Context::<Bfv>::builder().values_within(64.0).results_within(1e6).depth(1).build().unwrap();
    each(&exact, exact.slots() / 2);
    let exact = Context::<Bgv>::builder().values_within(64.0).results_within(1e6).depth(1).build().unwrap();
    each(&exact, exact.slots() / 2);
}

/// With the keys of the plan alone, and by bytes.
fn planned<S: Public1>(context: &Context<S>) {
    for (len, indices) in
        [(100, (17..40).collect::<Vec<_>>()), (9, vec![8, 0, 3, 3, 1]), (5, (0..64).map(|i| i % 5).collect())]
    {
        let work = |x: &Encrypted<S>| -> Result<Encrypted<S>> { x.select(&indices)?.select(&[0, 2, 1, 4]) };
        let plan = context.plan(&[len], |x| work(&x[0])).unwrap();
        let (secret, public) = context.keys_for(&plan, &mut sotto::secure_rng().unwrap()).unwrap();
        let x = public.read(&secret.encrypt_to_bytes(&values::<S>(len)).unwrap()).unwrap();
        let answer = secret.decrypt_answer(&work(&x).unwrap().to_bytes().unwrap(), &plan).unwrap();
        for (value, place) in answer.values().iter().zip([0, 2, 1, 4]) {
            let exact = S::real(values::<S>(len)[indices[place]]);
            assert!((S::real(*value) - exact).abs() <= answer.bound(), "{context} {len}");
        }
        // The plan's keys do not serve another selection.
        assert!(x.select(&(0..len).rev().collect::<Vec<_>>()).is_err() || plan.rotations().len() > 2);
    }
}

#[test]
fn a_plan_lists_the_keys_and_the_answer_is_the_planned_one() {
    planned(&Context::<Ckks>::builder().values_within(64.0).depth(2).build().unwrap());
    planned(&Context::<Bfv>::builder().values_within(64.0).depth(2).build().unwrap());
    planned(&Context::<Bgv>::builder().values_within(64.0).depth(2).build().unwrap());
}

#[test]
fn ranges_are_cheap_and_permutations_take_two_square_roots() {
    let context = Context::<Bfv>::for_depth(1).unwrap();
    let row = context.slots() / 2;
    let cost = |len: usize, indices: Vec<usize>| {
        let (_, masks, rotations) = context.plan(&[len], |x| x[0].select(&indices)).unwrap().counts();
        (masks, rotations)
    };
    // One mask, one rotation by 40 mod 16 = 8, three doublings from 16 to 128 slots.
    assert_eq!(cost(100, (40..52).collect()), (1, 4));
    assert_eq!(cost(row, vec![77]), (1, row.ilog2() as usize));
    // Whole ciphertexts: no mask. A rotation by 3 is composed of two.
    assert_eq!(cost(64, (0..64).map(|i| (i + 3) % 64).collect()), (0, 2));
    assert_eq!(cost(1, vec![0; 64]), (0, 0));
    assert_eq!(cost(2 * row, (0..2 * row).map(|i| (i + row) % (2 * row)).collect()), (0, 1));
    // A mirror has an offset for every second slot: 32 masks, 1 + 2 + … rotations.
    let (masks, rotations) = cost(64, (0..64).rev().collect());
    assert!(masks == 32 && rotations <= 2 * 8, "{masks} {rotations}");
    let (masks, rotations) = cost(1024, (0..1024).map(|i| i * i % 1024).collect());
    assert!(masks <= 1024 && rotations <= 64, "{masks} {rotations}");
    // Longer than the source: the shorter period repeats for free.
    assert_eq!(cost(4, (0..row).map(|i| (i + 1) % 4).collect()), (0, 1));
}

#[test]
fn the_context_that_a_computation_chooses_has_room_for_its_selections() {
    // Neighbours differ; then the largest offsets, in one vector.
    let work = |x: &[Encrypted<Ckks>]| {
        let (next, all) =
            (x[0].select(&(1..288).collect::<Vec<_>>())?, x[0].select(&(0..287).collect::<Vec<_>>())?);
        (&next - &all)?.square()?.select(&(0..287).map(|i| i * 50 % 287).collect::<Vec<_>>())
    };
    let context =
        Context::<Ckks>::builder().values_within(60.0).error_within(0.01).build_for(&[288], work).unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let input = values::<Ckks>(288);
    let answer = secret.decrypt(&work(&[secret.encrypt(&input).unwrap()]).unwrap()).unwrap();
    for (i, value) in answer.values().iter().enumerate() {
        let at = i * 50 % 287;
        let exact = (input[at + 1] - input[at]).powi(2);
        assert!(
            (value - exact).abs() <= answer.bound() && answer.bound() <= 0.01,
            "{i}: {value} for {exact}"
        );
    }
}

#[test]
fn a_shuffle_leaves_the_room_of_its_level() {
    // Hundreds of masked rotations are added up, whose slots do not meet: slots stay within ±1, and products have room.
    let party =
        party(&Context::<Ckks>::builder().values_within(60.0).degree(8192).scale(44).build().unwrap());
    let len = party.secret.context().slots();
    let shuffle: Vec<usize> = (0..len).map(|i| (i * 7919 + i * i * 31) % len).collect();
    let input = values::<Ckks>(len);
    let x = party.secret.encrypt(&input).unwrap();
    let early = x.select(&shuffle).unwrap().square().unwrap();
    let mut late = x;
    while late.ciphertexts()[0].level() > 1 {
        late = (&late * vec![1.0; len].as_slice()).unwrap();
    }
    let late = late.select(&shuffle).unwrap();
    assert_eq!(late.ciphertexts()[0].level(), 0);
    // At the last level there is no room for the bound on the sum of as many slots: masks shrink them.
    let largest = every_slot(&party, &late).iter().fold(0.0_f64, |most, slot| most.max(slot.abs()));
    assert!(largest < 1.0 / 512.0, "{largest}");
    for (answer, power) in [(early, 2), (late, 1)] {
        let answer = party.secret.decrypt(&answer).unwrap();
        assert!(answer.bound() < 1.0, "{}", answer.bound());
        for (value, index) in answer.values().iter().zip(&shuffle) {
            let exact = input[*index].powi(power);
            assert!((value - exact).abs() <= answer.bound(), "{value} for {exact}, {}", answer.bound());
        }
    }
}

#[test]
fn refusals() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let x = secret.encrypt(&[1.0, 2.0, 3.0]).unwrap();
    let error = x.select(&[0, 3]).unwrap_err();
    assert!(matches!(error, Error::Index { index: 3, len: 3 }), "{error}");
    assert!(error.to_string().contains("number 3") && error.to_string().contains("3 values"), "{error}");
    assert!(matches!(x.select(&[]), Err(Error::Count { found: 0, .. })));
    let bytes = *secret.device_secret().expose_secret_bytes();
    let keyless = context.secret(DeviceSecret::from_bytes(&bytes)).encrypt(&[1.0, 2.0, 3.0]).unwrap();
    assert!(matches!(keyless.select(&[1, 0]), Err(Error::NoKeys)));
    assert!(keyless.select(&[0, 1, 2]).is_ok() && public.attach(keyless).unwrap().select(&[1, 0]).is_ok());
    let mut spent = x;
    let error = loop {
        match spent.select(&[2, 0, 1]) {
            Ok(next) => spent = next,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Depth { .. }), "{error}");
}
