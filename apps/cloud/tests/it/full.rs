//! A full disk during each kind of work: the cloud says so, keeps all confirmed windows, and goes on when there is room again.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use sotto_cloud_client::{PartsOf, WindowsOf};
use sotto_keys::SigningIdentity;
use sotto_wire::{Envelope, MaskName, Ordered, RollUp, StreamHead, WindowGroup};

use crate::process::{address, program, run};
use crate::streams::site::{SECRET, TICKS, header, key_of, readings, window};
use crate::world::{Answer, order, send};

const BEARER: (&str, &str) = ("authorization", "Bearer 0123456789abcdef0123");
/// Windows of a group.
const GROUPED: u64 = 64;

/// A small file system in memory.
struct Disk(PathBuf);

impl Disk {
    /// Mounts one. Returns None if this user may not.
    fn mount(folder: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=0700"), "tmpfs"]).arg(folder);
        let mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        mounted.then(|| Self(folder.to_owned()))
    }

    /// Takes all room but some blocks of 4 KiB.
    fn fill_but(&self, blocks: usize) {
        let mut filler = File::create(self.0.join("filler")).unwrap();
        let mut written = 0;
        while filler.write_all(&[0; 4096]).is_ok() {
            written += 4096;
        }
        filler.set_len(u64::saturating_sub(written, blocks as u64 * 4096)).unwrap();
    }

    fn free(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

struct Site {
    folder: tempfile::TempDir,
    identity: SigningIdentity,
    /// Windows that were confirmed.
    confirmed: u64,
}

impl Site {
    fn group(&self, first: u64) -> WindowGroup {
        let header = header("kitchen", "load", &SECRET);
        let windows: Vec<Envelope> = (first..first + GROUPED)
            .map(|number| {
                let name = MaskName { salt: [9; 12], sequence: number };
                window(&self.identity, &header, number, name, &readings(number, TICKS))
            })
            .collect();
        WindowGroup::sign(windows, |message| self.identity.sign(message)).unwrap()
    }

    /// Runs the program on the store while `work` runs, and ends it.
    fn running<T>(&mut self, work: impl FnOnce(&mut Self, &str) -> T) -> T {
        let _ = fs::remove_file(self.folder.path().join("address"));
        let mut command = run(self.folder.path());
        command.arg("--objects").arg(self.folder.path().join("objects")).args(["--objects-cache", "0"]);
        let mut child = command.arg("--exit-with-stdin").stderr(Stdio::null()).spawn().unwrap();
        let url = format!("http://{}", address(self.folder.path()));
        let done = work(self, &url);
        drop(child.stdin.take());
        child.wait().unwrap();
        done
    }

    /// Sends the next group.
    fn upload(&mut self, url: &str) -> Answer {
        let group = self.group(self.confirmed);
        let key = group.upload_key();
        let answer =
            send("POST", &format!("{url}/v1/envelopes"), &[("idempotency-key", &key)], &group.write());
        if answer.status < 300 {
            self.confirmed += GROUPED;
        }
        answer
    }

    /// Asks for the sum of each group.
    fn sums(&self, url: &str) -> Vec<Vec<u8>> {
        let tag = header("kitchen", "load", &SECRET).id().tag();
        let sum = |first: u64| {
            let sums = vec![PartsOf { windows: (0, GROUPED as u32), parts: vec![0, 1], weights: None }];
            let request = WindowsOf { windows: vec![(first, GROUPED as u32)], sums };
            let body = serde_json::to_vec(&request).unwrap();
            let answer = send("POST", &format!("{url}/v1/streams/{tag}/sums"), &[BEARER], &body);
            assert_eq!(answer.status, 200, "from window {first} on: {answer}");
            answer.bytes
        };
        (0..self.confirmed).step_by(GROUPED as usize).map(sum).collect()
    }

    fn command(&self, words: &[&str]) -> Output {
        let mut command = program();
        command.arg(words[0]).arg("--data").arg(self.folder.path().join("data")).args(&words[1..]);
        command.arg("--owner-token-file").arg(self.folder.path().join("token"));
        command.arg("--objects").arg(self.folder.path().join("objects")).args(["--objects-cache", "0"]);
        command.output().unwrap()
    }
}

/// Asserts that a command failed because of the disk, and that it says so.
fn is_full(output: &Output) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it was to fail: {text}");
    assert!(text.contains("No space left") || text.contains("disk is full"), "{text}");
}

#[test]
fn nothing_is_lost_whatever_is_being_done() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(&folder.path().join("data"), "24m") else {
        return eprintln!(
            "skipped: no file system can be mounted here (it takes root, and the program `mount`)"
        );
    };
    let mut site = Site { folder, identity: SigningIdentity::from_bytes(&[6; 32]), confirmed: 0 };
    let stream = header("kitchen", "load", &SECRET);
    let before = site.running(|site, url| {
        let registration = serde_json::json!({
            "verifying_key": hex::encode(site.identity.verifying_key()),
            "keys": [key_of(&stream)],
            "streams": [hex::encode(stream.write())],
        });
        let device = format!("{url}/v1/devices/kitchen");
        send("PUT", &device, &[BEARER, ("if-none-match", "*")], registration.to_string().as_bytes())
            .expect(200);
        // While windows come in, with more and more room: until then each is refused by name.
        let mut refused = 0;
        for blocks in 0..40 {
            disk.fill_but(blocks);
            let begin = Instant::now();
            loop {
                let answer = site.upload(url);
                match answer.status {
                    200 | 201 if begin.elapsed() < Duration::from_millis(150) => {}
                    200 | 201 => break,
                    _ => {
                        answer.refused(507, "storage-full");
                        refused += 1;
                        break;
                    }
                }
            }
            disk.free();
        }
        assert!(refused > 3, "the disk was full {refused} times");
        for _ in 0..40 {
            site.upload(url).expect(201);
        }
        let before = site.sums(url);
        // While an order is carried out.
        let path = format!("{url}/v1/log?device=kitchen&stream=load");
        let head = sotto_wire::LogPage::read(&send("GET", &path, &[BEARER], &[]).bytes).unwrap().head;
        let head = StreamHead::read(&head).unwrap();
        let groups = (0..8).map(|group| vec![(group * GROUPED, (group + 1) * GROUPED)]).collect();
        let retain = RollUp { stream: "load".to_owned(), size: head.size, root: head.root, groups };
        let retain = order("kitchen", Ordered::RollUp(retain)).write().unwrap();
        let mut done = false;
        for blocks in (0..400).step_by(10) {
            disk.fill_but(blocks);
            let answer = send("POST", &format!("{url}/v1/orders"), &[BEARER], &retain);
            disk.free();
            assert!(answer.status == 200 || answer.status == 507, "{answer}");
            assert_eq!(site.sums(url), before);
            done |= answer.status == 200;
        }
        assert!(done, "the order is carried out once there is room");
        before
    });
    // While it is started and sealed.
    for blocks in [0, 20] {
        disk.fill_but(blocks);
        let _ = site.command(&["migrate"]);
        disk.free();
    }
    let checked = site.command(&["check", "--signatures"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    // While it is copied, and brought back: here the disk of the copy is full, then that of the store.
    let Some(other) = Disk::mount(&site.folder.path().join("backup"), "4m") else { return };
    let backup = site.folder.path().join("backup").display().to_string();
    other.fill_but(8);
    is_full(&site.command(&["backup", "--to", &backup]));
    other.free();
    assert!(site.command(&["backup", "--to", &backup]).status.success());
    disk.fill_but(4);
    is_full(&site.command(&["restore", "--from", &backup]));
    disk.free();
    site.running(|site, url| assert_eq!(site.sums(url), before));
    let restored = site.command(&["restore", "--from", &backup]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    site.running(|site, url| assert_eq!(site.sums(url), before));
    drop((other, disk));
}
