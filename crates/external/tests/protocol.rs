//! Messages on the connection to a controller, and refusals of wrong answers.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use longhaul_congestion::{AckSample, Cause, Congestion, Factory, Phase, Rounding, Window};
use longhaul_external::{Address, External, Program, check};
use longhaul_units::{Rate, Span, Time};

thread_local! {
    static FAILURES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

const PROGRAM: Program = Program {
    failed: |what| FAILURES.with_borrow_mut(|failures| failures.push(what)),
    stops_waiting: || false,
    patience: Duration::from_millis(300),
};

/// Runs a peer that gives `answers` and then closes the connection. Its thread returns the lines that it received.
fn peer(answers: &[&str]) -> (Address, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    let answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        converse(&mut stream, &answers)
    });
    (address.parse().unwrap(), thread)
}

fn converse(stream: &mut TcpStream, answers: &[String]) -> Vec<String> {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut got = Vec::new();
    for answer in answers {
        let Some(Ok(line)) = lines.next() else { break };
        got.push(line);
        if answer == "late" {
            thread::sleep(Duration::from_secs(1));
        } else {
            stream.write_all(answer.as_bytes()).unwrap();
        }
    }
    got
}

fn window() -> Window {
    Window::new(10.0, f64::INFINITY, 1e9, Rounding::Real)
}

fn ack(milliseconds: u64) -> AckSample {
    AckSample {
        now: Time::from_secs_f64(milliseconds as f64 / 1e3),
        ..AckSample::ONE_SEGMENT
    }
}

/// Returns the message about a flow's failure if the controller's second answer is `answer`.
fn failure(answer: &str) -> String {
    let (address, thread) = peer(&["{}\n", "{}\n", answer]);
    let mut flow = External::new(address, PROGRAM).make();
    let mut window = window();
    flow.on_ack(&ack(250), Phase::Avoidance, &mut window);
    assert_eq!(window.cwnd(), 10.0);
    // The failed controller is not called again.
    flow.on_ack(&ack(260), Phase::Avoidance, &mut window);
    drop(flow);
    assert_eq!(thread.join().unwrap().len(), 3);
    let failures = FAILURES.take();
    assert_eq!(failures.len(), 1, "{failures:?}");
    failures.into_iter().next().unwrap()
}

#[test]
fn events_are_lines_and_answers_move_the_window() {
    let answers = [
        "{\"facts\":[\"now_s\",\"rtt_s\",\"ssthresh\"]}\n",
        "{}\n",
        "{\"cwnd\":12.5,\"pacing_bps\":8e6}\n",
        "{\"cwnd\":6.25,\"ssthresh\":6.25}\n",
        "{}\n",
        "{\"pacing_bps\":null}\n",
    ];
    let (address, thread) = peer(&answers);
    let external = External::new(address, PROGRAM);
    let (mut first, mut second) = (external.make(), external.make());
    let mut window = window();
    first.on_ack(&ack(250), Phase::Avoidance, &mut window);
    assert_eq!(
        (window.cwnd(), first.pacing_rate()),
        (12.5, Some(Rate::from_bps(8_000_000)))
    );
    let event = Congestion {
        now: Time::from_secs_f64(0.5),
        cause: Cause::Loss,
        base: 12.5,
        in_flight: 12,
        in_slow_start: true,
        first: true,
    };
    first.on_congestion(&event, &mut window);
    assert_eq!((window.cwnd(), window.ssthresh()), (6.25, 6.25));
    // Another flow has the next number and a separate pacing rate.
    second.on_ack(&ack(750), Phase::Avoidance, &mut window);
    assert_eq!(first.pacing_rate(), Some(Rate::from_bps(8_000_000)));
    drop((external, first, second));
    let lines = thread.join().unwrap();
    assert!(
        lines[0].starts_with("{\"event\":\"hello\",\"protocol\":1,\"facts\":[\"now_s\",\"acked\",")
    );
    let rest = [
        r#"{"event":"open","flow":0,"cwnd":10.0,"ssthresh":null}"#,
        r#"{"event":"ack","flow":0,"now_s":0.25,"rtt_s":null,"ssthresh":null}"#,
        r#"{"event":"congestion","flow":0,"now_s":0.5,"cause":"loss","base":12.5,"in_flight":12,"cwnd":12.5,"ssthresh":null}"#,
        r#"{"event":"open","flow":1,"cwnd":6.25,"ssthresh":6.25}"#,
        r#"{"event":"ack","flow":1,"now_s":0.75,"rtt_s":null,"ssthresh":6.25}"#,
    ];
    assert_eq!(lines[1..], rest);
}

#[test]
fn reports_of_a_round_trip_or_a_time_add_up_what_was_not_told() {
    for report in ["\"round\"", "{\"every_s\":0.003}"] {
        let hello =
            format!("{{\"facts\":[\"acked\",\"ecn_echo\",\"rtt_s\"],\"report\":{report}}}\n");
        let (address, thread) = peer(&[&hello, "{}\n", "{}\n", "{}\n"]);
        let mut flow = External::new(address, PROGRAM).make();
        let mut window = window();
        for milliseconds in 0..=3 {
            let sample = AckSample {
                ecn_echo: milliseconds == 1,
                rtt: (milliseconds == 2).then(|| Span::from_millis(40)),
                round_start: milliseconds == 3,
                ..ack(milliseconds)
            };
            flow.on_ack(&sample, Phase::Avoidance, &mut window);
        }
        drop(flow);
        let lines = thread.join().unwrap();
        assert_eq!(
            lines[2],
            r#"{"event":"ack","flow":0,"acked":1,"ecn_echo":false,"rtt_s":null}"#
        );
        assert_eq!(
            lines[3],
            r#"{"event":"ack","flow":0,"acked":3,"ecn_echo":true,"rtt_s":0.04}"#
        );
    }
}

#[test]
fn what_is_no_answer_ends_with_address_reason_and_time() {
    let cases = [
        ("rubbish\n", "found \"rubbish\""),
        (
            "[1]\n",
            "expected an object with cwnd, ssthresh and pacing_bps",
        ),
        (
            "[1,2]\n",
            "expected an object with cwnd, ssthresh and pacing_bps",
        ),
        ("5\n", "expected an object with cwnd"),
        ("{\"window\":1}\n", "unknown field `window`"),
        ("{\"cwnd\":-1}\n", "cwnd: expected 0 to 1e12 segments"),
        (
            "{\"ssthresh\":1e300}\n",
            "ssthresh: expected 0 to 1e12 segments",
        ),
        (
            "{\"pacing_bps\":0}\n",
            "pacing_bps: expected 1 to 1e18 bit/s or null",
        ),
        ("{}\n{}\n", "expected one line as answer"),
        ("late", "has not answered for 300ms"),
        ("", "has closed the connection"),
    ];
    for (answer, expected) in cases {
        let told = failure(answer);
        assert!(told.contains(expected), "{told}");
        assert!(told.starts_with("tcp:127.0.0.1:"), "{told}");
        assert!(told.ends_with("(at 0.25 s of simulated time)"), "{told}");
    }
}

#[test]
fn a_controller_that_asks_for_what_is_not_there_is_refused_at_once() {
    let cases = [
        (
            "{\"facts\":[\"cwn\"]}\n",
            "unknown fact \"cwn\"; expected some of now_s, acked,",
        ),
        ("{\"report\":\"always\"}\n", "unknown variant `always`"),
        (
            "{\"report\":{\"every_s\":0}}\n",
            "every_s: expected more than 0 s",
        ),
        ("{\"cwnd\":1}\n", "unknown field `cwnd`"),
    ];
    for (answer, expected) in cases {
        let (address, thread) = peer(&[answer]);
        let told = check(&address, PROGRAM).unwrap_err();
        assert!(told.contains(expected), "{told}");
        thread.join().unwrap();
    }
    for address in ["", "unix:", "tcp:host", "tcp:host:port", "udp:1:2"] {
        let told = address.parse::<Address>().unwrap_err();
        assert!(
            told.contains("expected unix:PATH or tcp:HOST:PORT"),
            "{told}"
        );
    }
}
