//! Plans of the owner over groups: outputs are those of the cloud's jobs, and decrypt to the right values.

use sotto_decrypt::Decryptor;
use sotto_program::{KeyNumber, PlanOutput, Register, Step};
use sotto_rlwe::{Ckks, DefaultChain, Kept, Params, SchemeId};

use super::super::site::{Lake, program};
use super::super::workers::{Worker, urls};
use super::{Plant, job, product, read, sum_of_two_keys, values};
use crate::device::Device;
use crate::jobs::{ADD, plan};
use crate::world::World;

#[test]
fn a_product_of_each_group_is_the_output_of_a_job() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(6);
    let id = plant.world.put_plan(&product(&plant.params));
    let pairs = format!(
        "select number / 2, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts
         where device = 'kitchen' group by 1"
    );
    for threads in ["1", "2", "5"] {
        let found = plant.lake(&["--threads", threads]).frames(&pairs).unwrap();
        assert_eq!(found.len(), 3);
        for pair in 0..3 {
            let frame = &found[&pair.to_string()];
            let (a, b) = (2 * pair, 2 * pair + 1);
            let inputs = [&plant.ids[0][a], &plant.ids[0][b]];
            assert_eq!(*frame, job(&plant.world, &id, &inputs, None), "{threads} threads");
            let (a, b) = (values(0, a as u64), values(0, b as u64));
            let products: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a * b).chain([0]).collect();
            let decryptor = Decryptor::new(&plant.kitchen.secret);
            let slots = decryptor.slots(&plant.read(frame)).unwrap().into_residues();
            let sums: Vec<i64> = products.windows(2).map(|pair| pair[0] + pair[1]).collect();
            assert_eq!(slots[..3], sums[..]);
        }
    }
    // One group has all threads for its steps.
    let one = format!(
        "select 'one', sotto_evaluate(ciphertext, number, '{id}') from ciphertexts
         where device = 'kitchen' and number between 2 and 3"
    );
    let expected = job(&plant.world, &id, &[&plant.ids[0][2], &plant.ids[0][3]], None);
    assert_eq!(plant.lake(&["--threads", "2"]).frames(&one).unwrap()["one"], expected);
    // The order is the query's: the product of the second pair with the first.
    let back = one.replace("ciphertext, number,", "ciphertext, -number,");
    let turned = job(&plant.world, &id, &[&plant.ids[0][3], &plant.ids[0][2]], None);
    assert_eq!(plant.lake(&["--threads", "2"]).frames(&back).unwrap()["one"], turned);
    let none = one.replace("between 2 and 3", "> 100");
    assert!(plant.lake(&[]).frames(&none).unwrap()["one"].is_empty());
}

#[test]
fn outputs_of_a_plan_follow_each_other() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(2);
    let mut both = plan(&plant.params, 2, &[Step::Add(Register(0), Register(1)), Step::Negate(Register(0))]);
    both.outputs = [("sum", 2), ("negative", 3)]
        .map(|(name, at)| PlanOutput { name: name.into(), register: Register(at), form: None })
        .to_vec();
    let id = plant.world.put_plan(&both);
    let sql =
        format!("select device, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts group by device");
    let found = plant.lake(&["--threads", "2"]).frames(&sql).unwrap();
    for (device, ids) in ["kitchen", "attic"].iter().zip(&plant.ids) {
        assert_eq!(found[*device], job(&plant.world, &id, &[&ids[0], &ids[1]], None));
    }
}

#[test]
fn devices_with_keys_of_their_own_meet_under_one() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(3);
    let lake = plant.lake(&["--threads", "2"]);
    let decryptor = Decryptor::new(&plant.kitchen.secret);
    // Of equal numbers the attic comes first.
    let by_name = plant.world.put_plan(&sum_of_two_keys(&plant.params, 0));
    let by_rank = plant.world.put_plan(&sum_of_two_keys(&plant.params, 1));
    let rank = "case device when 'kitchen' then 0 else 1 end";
    for (id, order, first) in [(&by_name, "number", 1), (&by_rank, rank, 0)] {
        let sql = format!(
            "select number, sotto_evaluate(ciphertext, {order}, '{id}') from ciphertexts group by number"
        );
        let found = lake.frames(&sql).unwrap();
        for number in 0..3_usize {
            let inputs = [&plant.ids[first][number], &plant.ids[1 - first][number]];
            let frame = &found[&number.to_string()];
            assert_eq!(*frame, job(&plant.world, id, &inputs, None));
            let slots = decryptor.slots(&plant.read(frame)).unwrap().into_residues();
            let both = values(0, number as u64).into_iter().zip(values(1, number as u64));
            assert_eq!(slots[..3], both.map(|(a, b)| a + b).collect::<Vec<_>>()[..]);
        }
    }
}

#[test]
fn an_answer_may_be_under_a_key_that_the_query_names() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(1);
    let mut owner = Device::new("owner", &plant.params, 3);
    plant.world.put_keys(&owner.transfer_keys(&[&plant.kitchen, &plant.attic]));
    let steps =
        [Step::SwitchKey(Register(0)), Step::SwitchKey(Register(1)), Step::Add(Register(2), Register(3))];
    let mut moved = plan(&plant.params, 2, &steps);
    (moved.inputs[0].key, moved.inputs[1].key) = (KeyNumber(1), KeyNumber(2));
    moved.keys = moved.keys_needed();
    let id = plant.world.put_plan(&moved);
    let lake = plant.lake(&["--threads", "2"]);
    let sql =
        |key: &str| format!("select 'all', sotto_evaluate(ciphertext, number, '{id}'{key}) from ciphertexts");
    let key = owner.secret.id().to_string();
    let found = &lake.frames(&sql(&format!(", '{key}'"))).unwrap()["all"];
    let inputs = [&plant.ids[1][0], &plant.ids[0][0]];
    assert_eq!(*found, job(&plant.world, &id, &inputs, Some(&key)));
    let slots = Decryptor::new(&owner.secret).slots(&plant.read(found)).unwrap().into_residues();
    assert_eq!(slots[..3], [2, -5, 0]);
    let error = lake.frames(&sql("")).unwrap_err();
    assert!(error.contains("name the key of the answer"), "{error}");
    let error = lake.frames(&sql(&format!(", '{}'", "0".repeat(32)))).unwrap_err();
    assert!(error.contains("transfer key from"), "{error}");
}

#[test]
fn compact_ciphertexts_are_expanded() {
    if program().is_none() {
        return;
    }
    let params = Params::<Ckks>::new(DefaultChain::spec(SchemeId::Ckks, 8192, 0).unwrap()).unwrap();
    let (world, mut device) = (World::start(), Device::new("boiler", &params, 7));
    world.put_parameters(&params);
    world.register(&device);
    let of = |from: f64| (0..8).map(|slot| from + f64::from(slot) / 100.0).collect::<Vec<_>>();
    let mut ids = Vec::new();
    for (number, from) in [0.1, -0.6].into_iter().enumerate() {
        let frame = device.encrypt_compact(&of(from));
        ids.push(world.keep(&device.seal(device.header(number as u64), frame)));
    }
    let id = world.put_plan(&plan(&params, 2, &ADD));
    let sql = format!("select 'all', sotto_evaluate(ciphertext, number, '{id}') from ciphertexts");
    let lake = Lake::over(&world.data(), &["--threads", "2"]);
    let error = lake.frames(&sql).unwrap_err();
    assert!(error.contains("cannot be expanded") && error.contains("Galois key"), "{error}");
    world.put_keys(&device.evaluation_keys(false, &params.expansion_steps(Kept::Folded(8)).unwrap()));
    let found = &lake.frames(&sql).unwrap()["all"];
    assert_eq!(*found, job(&world, &id, &[&ids[0], &ids[1]], None));
    let decryptor = Decryptor::new(&device.secret);
    let slots = decryptor.slots(&read(&params, found)).unwrap().raw_values_for_owner_only().to_vec();
    for (slot, (a, b)) in of(0.1).into_iter().zip(of(-0.6)).enumerate() {
        assert!((slots[slot] - a - b).abs() < 1e-4, "{slot}: {}", slots[slot]);
    }
}

#[test]
fn workers_give_the_bytes_of_one_process() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(6);
    let id = plant.world.put_plan(&product(&plant.params));
    let data = plant.world.data();
    let place = (plant.world.folder(), data.as_path());
    let (one, two) = (Worker::over(place, "one", &[]), Worker::over(place, "two", &[]));
    let there = plant.lake(&["--threads", "1", "--workers", &urls("http", &[&one, &two])]);
    let here = plant.lake(&["--threads", "2"]);
    let groups = "concat(device, number / 2)";
    for sql in [
        format!(
            "select {groups}, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts
                 where device = 'kitchen' group by 1"
        ),
        format!(
            "select 'one', sotto_evaluate(ciphertext, number, '{id}') from ciphertexts
                 where device = 'kitchen' and number < 2"
        ),
        format!("select {groups}, sotto_switch_sum(ciphertext) from ciphertexts group by 1"),
        "select 'all', sotto_switch_sum(ciphertext) from ciphertexts".to_owned(),
    ] {
        assert_eq!(there.frames(&sql).unwrap(), here.frames(&sql).unwrap(), "{sql}");
    }
    assert_eq!(there.number("select count(*) from ciphertexts where device = 'attic'"), 6);
    // A refusal names its reason from there as well.
    let wrong =
        format!("select device, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts group by 1");
    let error = there.frames(&wrong).unwrap_err();
    assert!(error.contains("the plan takes 2 inputs, and the group has 6 ciphertexts"), "{error}");
}

#[test]
fn workers_read_and_the_coordinator_needs_the_catalogue_alone() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(6);
    let id = plant.world.put_plan(&product(&plant.params));
    let (place, names) = (plant.world.folder().join("backup"), plant.world.folder().join("names"));
    let days = sotto_cloud::backups::Days::default();
    sotto_cloud::backups::backup(&plant.world.config(), sotto_cloud::Place::from(place.as_path()), days)
        .unwrap();
    std::fs::create_dir(&names).unwrap();
    std::fs::rename(place.join("catalogues"), names.join("catalogues")).unwrap();
    let of = (plant.world.folder(), place.as_path());
    let (one, two) = (Worker::over(of, "one", &[]), Worker::over(of, "two", &[]));
    let workers = urls("http", &[&one, &two]);
    let there = Lake::over(&names, &["--threads", "1", "--workers", &workers]);
    for sql in [
        format!(
            "select number / 2, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts
             where device = 'kitchen' group by 1"
        ),
        "select number, sotto_switch_sum(ciphertext) from ciphertexts group by 1".to_owned(),
    ] {
        assert_eq!(
            there.frames(&sql).unwrap(),
            plant.lake(&["--threads", "2"]).frames(&sql).unwrap(),
            "{sql}"
        );
    }
}
