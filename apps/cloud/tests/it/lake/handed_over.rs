//! The cloud hands large requests to the lake, and adds up itself where that gives no answer.

use std::fs;
use std::path::Path;

use sotto_cloud::config::Settings;
use sotto_cloud_client::{PartsOf, WindowsOf};

use super::site::{Site, program};

/// Asks for sums of many forms; returns their frames.
fn frames(site: &Site) -> Vec<Vec<u8>> {
    let tag = site.devices[0].header.id().tag().to_string();
    let all = |windows: Vec<(u64, u32)>, sums: Vec<PartsOf>| {
        site.client().stream_sums(&tag, &WindowsOf { windows, sums }).unwrap().frame
    };
    let sum = |windows, parts: &[u8], weights| PartsOf { windows, parts: parts.to_vec(), weights };
    vec![
        all(vec![(0, 60)], vec![sum((0, 60), &[0, 1], None)]),
        // In another order, with weights, and sums that overlap.
        all(
            vec![(30, 20), (0, 10), (50, 10)],
            vec![
                sum((0, 40), &[1], Some((0..40).map(|at| at % 5 - 2).collect())),
                sum((5, 20), &[0, 1], None),
                sum((39, 1), &[0], Some(vec![-7])),
            ],
        ),
    ]
}

fn with_lake(site: &mut Site, lake: &Path) {
    let lake = lake.to_owned();
    site.restart_with(move |settings| Settings { lake: Some(lake.clone()), lake_from: Some(1), ..settings });
}

#[test]
fn the_lake_answers_as_the_cloud_does() {
    let Some(program) = program() else { return };
    let mut site = Site::with_windows(60);
    let expected = frames(&site);
    with_lake(&mut site, Path::new(program.get_program()));
    assert_eq!(frames(&site), expected);
    // A window that the store does not have is refused as ever.
    let tag = site.devices[0].header.id().tag().to_string();
    let sums = vec![PartsOf { windows: (0, 2), parts: vec![0], weights: None }];
    let refused = site.client().stream_sums(&tag, &WindowsOf { windows: vec![(59, 2)], sums });
    assert!(refused.err().unwrap().to_string().contains("no window with number 60"));
}

#[cfg(unix)]
#[test]
fn without_its_answer_the_cloud_adds_up_itself() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut site = Site::with_windows(60);
    let expected = frames(&site);
    // Absent, failing, silent, and lying about its form.
    with_lake(&mut site, Path::new("/nowhere/sotto-lake"));
    assert_eq!(frames(&site), expected);
    for (name, script) in [
        ("fails", "echo no >&2; exit 3"),
        ("silent", "cat > /dev/null"),
        ("lies", "cat > /dev/null; echo a frame"),
    ] {
        let file = site.folder().join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
        with_lake(&mut site, &file);
        assert_eq!(frames(&site), expected, "{name}");
    }
}
