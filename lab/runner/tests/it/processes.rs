//! Runs over real processes that misbehave.
#![cfg(unix)]

use std::time::{Duration, Instant};

use sotto_harness::Installed;
use sotto_runner::{Contender, Definition, Gap, Observer, Row, RunnerError, Scheme, Selection, run};

#[derive(Default)]
struct Heard {
    rows: Vec<Row>,
    gaps: Vec<Gap>,
}

impl Observer for Heard {
    fn row(&mut self, row: Row) -> Result<(), RunnerError> {
        self.rows.push(row);
        Ok(())
    }

    fn gap(&mut self, gap: Gap) -> Result<(), RunnerError> {
        self.gaps.push(gap);
        Ok(())
    }

    fn progress(&mut self, _: u64, _: &str) {}
}

/// Returns an engine in a few lines of shell; `measured` is its command for a measurement.
fn shell(name: &str, measured: &str) -> Contender {
    let script = format!(
        r#"while read l; do case "$l" in
        *version*) echo '{{"engine":"x","library":"x","version":"1","schemes":["bfv"]}}';;
        *prepare*) echo '{{"data":[34359697409,34359451649],"special":[68719403009]}}';;
        *'"measure"'*) {measured};;
        *) echo '{{"error":"unsupported"}}';;
        esac; done"#
    );
    let engine =
        Installed { name: name.into(), program: "sh".into(), arguments: vec!["-c".into(), script.into()] };
    Contender::installed(&engine, Duration::from_secs(1))
}

#[test]
fn engines_that_hang_die_or_talk_nonsense_are_gaps_and_the_others_are_measured() {
    let small = Definition::parse("small", include_str!("../small.toml")).unwrap();
    let selection = Selection::new(small, true, &[], &[Scheme::Bfv]).unwrap();
    let good = r#"echo '{"microseconds":[5.0,7.0],"verified":true}'"#;
    let contenders = [
        shell("good", good),
        shell("hangs", "exec sleep 60"),
        shell("dies", "echo 'out of memory' >&2; sleep 0.2; exit 1"),
        shell("nonsense", "echo '{\"times\":1}'"),
    ];
    let mut heard = Heard::default();
    let start = Instant::now();
    run(&selection, &contenders, Duration::ZERO, &mut heard).unwrap();
    assert!(start.elapsed() < Duration::from_secs(40), "nobody waits for one that hangs");
    let engines: Vec<&str> = heard.rows.iter().map(|row| row.engine.as_str()).collect();
    assert_eq!(engines, ["good"; 3]);
    assert!(heard.rows[0].verified, "what the engine cannot be asked by the runner, its own check decides");
    let reason = |engine: &str| heard.gaps.iter().find(|gap| gap.engine == engine).unwrap().reason.clone();
    assert!(reason("hangs").contains("no answer within"), "{}", reason("hangs"));
    assert!(reason("dies").contains("out of memory"), "{}", reason("dies"));
    assert!(reason("nonsense").contains("an answer outside the protocol"), "{}", reason("nonsense"));
    for engine in ["hangs", "dies", "nonsense"] {
        let gaps = heard.gaps.iter().filter(|gap| gap.engine == engine).count();
        assert_eq!(gaps, 3, "{engine}: two operations, and that it is not asked again");
    }
}
