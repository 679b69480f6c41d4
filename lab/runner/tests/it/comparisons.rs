//! Comparisons over stand-ins for engines: requests, scores of answers, gaps, and rows that are kept.

use std::time::Duration;

use sotto_harness::LabError;
use sotto_harness::protocol::{
    Compare, Compared, Measure, Measured, Prepare, Prepared, UNSUPPORTED, Values, Verified, Verify, Version,
};
use sotto_runner::{
    Collection, ComparisonRow, Contender, Definition, Extent, Gap, Host, Observer, Row, RunnerError, Score,
    Selection, Speaker, Store, run,
};

/// Answers by another limit than the asked one, so that some answers are wrong.
struct StandIn {
    name: &'static str,
    off: f64,
}

fn refused<T>(reason: &str) -> Result<T, LabError> {
    Err(LabError::Refused { engine: "a".into(), reason: reason.into() })
}

impl Speaker for StandIn {
    fn version(&mut self) -> Result<Version, LabError> {
        let (engine, library, version) = (self.name.into(), self.name.into(), "7".into());
        let (schemes, comparisons, flags, threads) = (Vec::new(), Vec::new(), String::new(), 1);
        Ok(Version { engine, library, version, schemes, comparisons, flags, threads })
    }

    fn prepare(&mut self, _: &Prepare) -> Result<Prepared, LabError> {
        refused("is not asked")
    }

    fn verify(&mut self, _: &Verify) -> Result<Verified, LabError> {
        refused("is not asked")
    }

    fn measure(&mut self, _: &Measure) -> Result<Measured, LabError> {
        refused("is not asked")
    }

    fn compare(&mut self, request: &Compare) -> Result<Compared, LabError> {
        match request.method.as_str() {
            "lwe-sign" => return refused(UNSUPPORTED),
            "switch" => return refused("no levels are left"),
            _ => {}
        }
        let batch = 1000;
        let readings = request.readings.reals();
        let flag = |reading: &f64| i64::from(*reading > request.limit + self.off);
        Ok(Compared {
            scheme: "bgv".into(),
            n: 16384,
            parameters: "t = 65537".into(),
            log2_qp: Some(400.0),
            security: None,
            batch,
            answers: Values::Integers(readings[..2 * batch].iter().map(flag).collect()),
            microseconds: vec![f64::from(request.least); 2],
            processor: Vec::new(),
            bytes_readings: 1,
            bytes_answer: 2,
            bytes_keys: 3,
            exact: true,
        })
    }
}

#[derive(Default)]
struct Heard {
    rows: Vec<ComparisonRow>,
    gaps: Vec<Gap>,
    done: u64,
}

impl Observer for Heard {
    fn row(&mut self, _: Row) -> Result<(), RunnerError> {
        Ok(())
    }

    fn comparison(&mut self, row: ComparisonRow) -> Result<(), RunnerError> {
        self.rows.push(row);
        Ok(())
    }

    fn gap(&mut self, gap: Gap) -> Result<(), RunnerError> {
        self.gaps.push(gap);
        Ok(())
    }

    fn progress(&mut self, done: u64, _: &str) {
        self.done += done;
    }
}

fn heard(quick: bool) -> Heard {
    let selection = Selection::new(Definition::named("comparisons").unwrap(), quick, &[], &[]).unwrap();
    let contender =
        |name, off| Contender::new(name, move || Ok(Box::new(StandIn { name, off }) as Box<dyn Speaker>));
    let absent = Contender::absent("lattigo", "is not installed", None);
    let contenders = [contender("sotto", 0.0), absent, contender("openfhe", 0.0), contender("tfhe-rs", 2.0)];
    let mut heard = Heard::default();
    run(&selection, &contenders, Duration::ZERO, &mut heard).unwrap();
    assert_eq!(heard.done, selection.whole());
    heard
}

#[test]
fn every_method_has_a_row_or_a_gap_and_wrong_answers_are_counted() {
    let heard = heard(false);
    let of = |engine: &str| heard.rows.iter().filter(|row| row.engine == engine).collect::<Vec<_>>();
    let ours = of("sotto");
    assert_eq!(
        ours.iter().map(|row| row.comparison.as_str()).collect::<Vec<_>>(),
        ["8 bits", "8 bits", "12 bits", "12 bits", "real numbers"]
    );
    assert_eq!((ours[0].method.as_str(), ours[1].method.as_str()), ("table bfv", "table bgv"));
    for row in &ours {
        assert_eq!((row.score.readings, row.score.wrong, row.score.undecided), (2000, 0, 0));
        assert_eq!((row.security_bits, row.count, row.median_us), (Some(128), 2, 3.0));
        assert_eq!((row.per_reading_us(), row.bytes_per_reading()), (0.003, 0.001));
    }
    let Score { wrong, largest_error, .. } = of("tfhe-rs")[0].score;
    assert!(wrong > 0 && largest_error == 1.0, "{wrong}");
    // A slow method evaluates once.
    assert_eq!(
        of("openfhe").iter().map(|row| (&*row.method, row.median_us)).collect::<Vec<_>>(),
        [("table-bootstrap", 1.0)]
    );
    let reasons: Vec<String> =
        heard.gaps.iter().map(|gap| format!("{}: {}", gap.about(), gap.reason)).collect();
    assert!(reasons.contains(&"8 bits lwe-sign: has no such method".to_owned()), "{reasons:?}");
    assert!(reasons.contains(&"real numbers switch: no levels are left".to_owned()), "{reasons:?}");
    assert_eq!(reasons.iter().filter(|reason| reason.contains("not installed")).count(), 1, "{reasons:?}");
}

#[test]
fn a_quick_run_leaves_out_slow_methods() {
    let heard = heard(true);
    assert!(heard.gaps.iter().all(|gap| gap.operation.as_deref() != Some("switch")));
    assert!(heard.rows.iter().all(|row| row.quick && row.engine != "openfhe"));
}

#[test]
fn rows_of_comparisons_are_kept_beside_others_and_reported() {
    let heard = heard(true);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create(folder.path(), "comparisons", Extent::Quick, &Host::default()).unwrap();
    heard.rows.iter().for_each(|row| store.comparison(row).unwrap());
    store.finish().unwrap();
    let read = Collection::read(folder.path()).unwrap();
    assert_eq!((read.rows.len(), &read.comparisons), (0, &heard.rows));
    let one = Collection::read(&folder.path().join("comparisons-quick.rows.jsonl")).unwrap();
    assert_eq!(one.comparisons, heard.rows);
    let written = sotto_runner::report::write(folder.path(), folder.path()).unwrap();
    let markdown = std::fs::read_to_string(&written[1]).unwrap();
    assert!(markdown.contains("| sotto table bgv | BGV, n = 16384: t = 65537 | 128 | 1000 |"), "{markdown}");
    let page = std::fs::read_to_string(&written[0]).unwrap();
    assert!(page.contains("<h2 id=\"comparisons\">") && page.contains("sotto table bgv"));
}

#[test]
fn comparisons_have_no_sizes_to_choose_from() {
    let definition = Definition::named("comparisons").unwrap();
    let error = Selection::new(definition, false, &[4096], &[]).unwrap_err().to_string();
    assert_eq!(error, "nothing of comparisons is left to measure: it has 8 bits, 12 bits, real numbers");
}
