//! Several workers give the bits of one; strangers get nothing from any.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use sotto_lake::session::{Limits, config, session, with_lake};
use sotto_lake::store::Catalogue;
use sotto_lake::workers::{Identity, listen, make_authority, with_workers};
use tokio::sync::oneshot;
use url::Url;

use crate::site::{Site, frames, number, rows};

const BY_DEVICE: &str = "select device, sotto_sum(body, tag) from windows group by device";
const BY_HOUR: &str = "select concat(device, to_char(date_trunc('hour', start), '%Y-%m-%dT%H')), sotto_sum(body, tag)
                       from windows group by 1";

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stop: oneshot::Sender<()>,
}

/// Starts a worker in this process.
pub(crate) async fn worker(site: &Site, identity: Option<Identity>) -> Running {
    let limits = Limits { threads: Some(1), memory: None };
    let listening = listen("127.0.0.1:0".parse().unwrap(), identity, site.files(), limits).await.unwrap();
    let (address, (stop, stopped)) = (listening.address, oneshot::channel());
    tokio::spawn(listening.serve(async { drop(stopped.await) }));
    Running { address, stop }
}

fn urls(scheme: &str, workers: &[Running]) -> Vec<Url> {
    workers.iter().map(|worker| format!("{scheme}://{}", worker.address).parse().unwrap()).collect()
}

/// Returns a session that divides queries among workers.
pub(crate) async fn coordinator(
    site: &Site,
    workers: Vec<Url>,
    identity: Option<Identity>,
) -> datafusion::prelude::SessionContext {
    let limits = Limits { threads: Some(1), memory: None };
    let change = |builder| with_workers(builder, workers, identity).unwrap();
    site.lake_with(change, limits).await.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_give_the_bits_of_one_process() {
    let mut site = Site::with_windows(150);
    site.seal();
    let workers = [worker(&site, None).await, worker(&site, None).await];
    let (embedded, _) = site.lake(2).await;
    let lake = coordinator(&site, urls("http", &workers), None).await;
    for sql in [BY_DEVICE, BY_HOUR, "select 'all', sotto_sum(body, tag) from windows"] {
        let expected = frames(&embedded, sql).await.unwrap();
        assert_eq!(frames(&lake, sql).await.unwrap(), expected, "{sql}");
    }
    assert_eq!(number(&lake, "select count(*) from windows where device = 'cellar'").await, 150);
    let plan = lake.sql(BY_HOUR).await.unwrap().create_physical_plan().await.unwrap();
    let plan = datafusion_distributed::display_plan_ascii(plan.as_ref(), false);
    assert!(plan.contains("t0") && plan.contains("t1"), "{plan}");
}

fn members(folder: &Path) -> [PathBuf; 2] {
    let folder = folder.join("authority");
    make_authority(&folder, &["one".to_owned(), "two".to_owned()]).unwrap();
    ["one", "two"].map(|member| folder.join(member))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_alone_send_plans_and_answer_them() {
    let site = Site::with_windows(60);
    let [one, two] = members(site.folder());
    let elsewhere = tempfile::tempdir().unwrap();
    let [stranger, _] = members(elsewhere.path());
    let read = |folder: &Path| Some(Identity::read(folder).unwrap());
    let workers = [worker(&site, read(&one)).await, worker(&site, read(&one)).await];
    let (embedded, _) = site.lake(2).await;
    let expected = frames(&embedded, BY_DEVICE).await.unwrap();
    let lake = coordinator(&site, urls("https", &workers), read(&two)).await;
    assert_eq!(frames(&lake, BY_DEVICE).await.unwrap(), expected);
    // Another authority's member sends a plan to this plant's workers, and is sent one.
    let lake = coordinator(&site, urls("https", &workers), read(&stranger)).await;
    let error = rows(&lake, BY_DEVICE).await.unwrap_err();
    assert!(error.contains("cannot be reached") || error.contains("certificate"), "{error}");
    let false_workers = [worker(&site, read(&stranger)).await];
    let lake = coordinator(&site, urls("https", &false_workers), read(&two)).await;
    let error = rows(&lake, BY_DEVICE).await.unwrap_err();
    assert!(error.contains("cannot be reached") || error.contains("certificate"), "{error}");
    // Without a certificate.
    let lake = coordinator(&site, urls("http", &workers), None).await;
    rows(&lake, BY_DEVICE).await.unwrap_err();
}

#[tokio::test]
async fn ports_that_others_reach_need_certificates() {
    let site = Site::with_windows(20);
    let limits = Limits::default();
    let refused = listen("0.0.0.0:0".parse().unwrap(), None, site.files(), limits).await;
    assert!(refused.err().unwrap().to_string().contains("--identity"));
    for address in ["http://10.0.0.1:1", "https://10.0.0.1:1", "ftp://127.0.0.1:1"] {
        let refused = with_workers(SessionStateBuilder::new(), vec![address.parse().unwrap()], None);
        assert!(refused.is_err(), "{address}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_reads_a_file_is_refused() {
    let site = Site::with_windows(20);
    let workers = [worker(&site, None).await];
    // A coordinator that was changed: its table is a file of the worker's machine.
    let file = site.folder().join("secret.parquet");
    let (embedded, _) = site.lake(1).await;
    embedded.sql("select number from windows").await.unwrap();
    let frame = embedded.sql("select number from windows").await.unwrap();
    let path = file.to_str().unwrap().to_owned();
    frame.write_parquet(&path, Default::default(), None).await.unwrap();
    let files = site.files();
    let catalogue = Catalogue::open(&site.place(), &files).await.unwrap();
    let limits = Limits { threads: Some(1), memory: None };
    let builder = with_lake(SessionStateBuilder::new(), config(), Arc::clone(&files), limits).unwrap();
    let builder = with_workers(builder, urls("http", &workers), None).unwrap();
    let builder = datafusion_distributed::DistributedExt::with_distributed_file_scan_config_bytes_per_partition(builder, 1);
    let lake = session(builder.unwrap().build(), catalogue, files).unwrap();
    lake.register_parquet("other", &path, Default::default()).await.unwrap();
    let error = lake.sql("select count(*), number from other group by number").await.unwrap().collect().await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("a worker reads windows alone"), "{error}");
}
