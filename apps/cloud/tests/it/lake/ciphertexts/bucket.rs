//! Backups in a bucket: envelopes, keys and plans are fetched by name, and a changed one is refused.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Output;

use super::super::site::program;
use super::{Plant, product};

/// Serves a folder as a bucket that is read: objects by name, and lists.
fn serve(folder: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(&folder, &stream.unwrap()));
        }
    });
    address
}

/// Answers the requests of a connection until it ends.
fn answer(folder: &Path, stream: &TcpStream) {
    let (mut lines, mut out) = (BufReader::new(stream).lines(), stream);
    while let Some(Ok(request)) = lines.next() {
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        let (status, kind, body) = match path.strip_prefix("/plant/backup/") {
            None if query.contains("list-type=2") => ("200 OK", "application/xml", list(folder)),
            None => ("404 Not Found", "application/xml", b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
            Some(name) => match fs::read(folder.join(name)) {
                Ok(bytes) => ("200 OK", "application/octet-stream", bytes),
                Err(_) => {
                    ("404 Not Found", "application/xml", b"<Error><Code>NoSuchKey</Code></Error>".to_vec())
                }
            },
        };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\netag: \"1\"\r\n\
             last-modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n\r\n",
            body.len()
        );
        if out.write_all(&[head.as_bytes(), &body].concat()).is_err() {
            return;
        }
    }
}

/// Returns the list of the catalogues.
fn list(folder: &Path) -> Vec<u8> {
    let names = fs::read_dir(folder.join("catalogues")).unwrap();
    let contents = names.map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        format!(
            "<Contents><Key>backup/catalogues/{name}</Key><LastModified>2015-10-21T07:28:00.000Z</LastModified>\
             <ETag>\"1\"</ETag><Size>1</Size></Contents>"
        )
    });
    let contents: String = contents.collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>").into_bytes()
}

#[test]
fn a_bucket_gives_the_bytes_of_its_store() {
    if program().is_none() {
        return;
    }
    let plant = Plant::new(2);
    let id = plant.world.put_plan(&product(&plant.params));
    let place = plant.backed_up();
    let address = serve(place.clone());
    let asked = |sql: &str| -> Output {
        let mut lake = program().unwrap();
        lake.args(["sql", sql, "--csv", "--threads", "2", "--store", "s3://plant/backup"]);
        lake.env("AWS_ENDPOINT_URL", format!("http://{address}")).env("AWS_REGION", "us-east-1");
        lake.env("AWS_ACCESS_KEY_ID", "reader").env("AWS_SECRET_ACCESS_KEY", "not a secret");
        lake.output().unwrap()
    };
    for sql in [
        format!(
            "select device, sotto_evaluate(ciphertext, number, '{id}') from ciphertexts
             where device = 'kitchen' group by 1"
        ),
        "select device, sotto_switch_sum(ciphertext) from ciphertexts group by 1".to_owned(),
    ] {
        let output = asked(&sql);
        let (text, error) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let mut found: Vec<&str> = text.lines().skip(1).collect();
        let mut expected = plant.lake(&["--threads", "1"]).lines(&sql).unwrap();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{error}");
    }
    // The bucket's owner changes an object, or takes it away.
    let sql =
        "select device, sotto_switch_sum(ciphertext) from ciphertexts where device = 'kitchen' group by 1";
    let file = place.join("envelopes").join(&plant.ids[0][1]);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let refused = |reason: &str| {
        let error = String::from_utf8(asked(sql).stderr).unwrap();
        assert!(error.contains(&plant.ids[0][1]) && error.contains(reason), "{error}");
    };
    refused("is not the envelope that was stored");
    fs::remove_file(&file).unwrap();
    refused("is missing");
}
