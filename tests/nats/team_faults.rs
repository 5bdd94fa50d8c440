//! Teams on workers that share a budget, and that find things in the way.

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    stage::*,
    support::*,
    team::{FRESH, TEAM, check, script},
};

const AGAIN: [&str; 2] = ["--resume", "out"];

fn with_budget(tokens: u64) -> String {
    TEAM.replace("name = \"t\"", &format!("name = \"t\"\nbudget = {{ tokens = {tokens} }}"))
}

impl Stage {
    /// The id of the run that is this agent.
    async fn run_of(&self, agent: &str) -> String {
        let listed: Vec<Value> = serde_json::from_str(&self.runs(&["list", "--json"]).await.stdout).unwrap();
        let ids = listed.iter().filter_map(|run| run["id"].as_str());
        ids.filter(|id| id.ends_with(&format!(".{agent}"))).map(str::to_owned).next().unwrap()
    }

    /// Stores a record of a run, as somebody else would.
    async fn put(&self, run: &str, kind: &str, text: &str) {
        let client = async_nats::connect(&self.nats.url).await.unwrap();
        client.publish(format!("$KV.troupe_runs.{run}.{kind}"), text.to_owned().into()).await.unwrap();
        client.flush().await.unwrap();
    }
}

#[tokio::test]
async fn agents_that_work_at_once_share_the_budget_of_their_team_also_after_a_break() {
    let Some(stage) = Stage::new(script).await else { return };
    stage.sandbox.write("team.toml", with_budget(2_000_000));
    let _worker = stage.worker("a").await;
    let mut team = stage.team(&FRESH);
    stage.pid_in("pid-one").await;
    stage.pid_in("pid-two").await;
    kill_process(pid_of(&team), Signal::KILL).unwrap();
    within("end of the team", team.wait()).await.unwrap();
    stage.sandbox.write("go", "");
    check(&stage, &end(stage.team(&AGAIN)).await);
}

/// An agent that needs five answers.
const LONG: &str = r#"
[team]
name = "t"
budget = { tokens = LIMIT }
[defaults]
model = "mock/m1"
[role.worker]
prompt = "WORK"
"#;

fn long_work(request: &Request) -> Reply {
    let reply = match request.texts("tool").len() {
        done @ 0..4 => calls([call("bash", json!({"command": format!("echo {done} >> effects")}))]),
        _ => text("all is done"),
    };
    reply.usage(600, 0)
}

#[tokio::test]
async fn an_agent_that_has_used_its_share_goes_on_until_the_team_has_nothing_left() {
    for (limit, code, effects) in [(8_000, 0, Some("0\n1\n2\n3\n")), (1_500, 11, None)] {
        let Some(stage) = Stage::new(|request: &Request| long_work(request)).await else { return };
        stage.sandbox.write("team.toml", LONG.replace("LIMIT", &limit.to_string()));
        let _worker = stage.worker("a").await;
        let finished = end(stage.team(&FRESH)).await;
        assert_eq!(finished.code, Some(code), "{}{}", finished.stdout, finished.stderr);
        let used = stage.result()["usage"]["totalTokens"].as_u64().unwrap();
        match effects {
            Some(effects) => {
                assert_eq!(
                    (stage.sandbox.read("effects").as_str(), finished.stdout.as_str()),
                    (effects, "all is done\n")
                );
                assert!(used >= 3_000 && used > limit / 4, "more than a share: {used}");
            }
            None => assert!(used <= limit + 600, "a call that passes the limit is the last one: {used}"),
        }
        let run = stage.run_of("worker").await;
        let shown: Value = serde_json::from_str(&stage.runs(&["show", &run, "--json"]).await.stdout).unwrap();
        assert!(shown["request"].as_u64().unwrap() > 1, "{shown:#}");
    }
}

#[tokio::test]
async fn a_wish_to_stop_that_outlives_the_team_does_not_stop_the_one_that_goes_on() {
    let Some(stage) = Stage::new(script).await else { return };
    stage.sandbox.write("team.toml", TEAM);
    let first = stage.worker("a").await;
    let mut team = stage.team(&FRESH);
    stage.pid_in("pid-one").await;
    stage.pid_in("pid-two").await;
    // The machine of the agents dies, and the team is stopped before anybody knows.
    first.kill().await;
    kill_process(pid_of(&team), Signal::KILL).unwrap();
    within("end of the team", team.wait()).await.unwrap();
    for agent in ["worker-1", "worker-2"] {
        let run = stage.run_of(agent).await;
        stage.put(&run, "stop", r#"{"number":1,"exit":143}"#).await;
    }
    stage.sandbox.write("go", "");
    let team = stage.team(&AGAIN);
    let _second = stage.worker("b").await;
    check(&stage, &end(team).await);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_ends_the_team_with_words_about_it() {
    let Some(stage) = Stage::new(script).await else { return };
    stage.sandbox.write("team.toml", TEAM);
    let _worker = stage.worker("a").await;
    let team = stage.team(&FRESH);
    stage.pid_in("pid-one").await;
    stage.pid_in("pid-two").await;
    let run = stage.run_of("worker-1").await;
    stage.put(&run, "result", r#"{"number":"one"}"#).await;
    let finished = end(team).await;
    assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
    let told = format!("{run}.result cannot be read");
    assert!(finished.stderr.contains(&told), "{}", finished.stderr);
    let result = stage.result();
    // Whoever resumes it goes on.
    assert_eq!(result["outcome"], "stopped", "{result:#}");
}

#[tokio::test]
#[ignore = "the server is away for half a minute"]
async fn a_server_that_is_away_for_longer_than_a_question_waits_holds_the_team_up_and_fails_nothing() {
    let Some(mut stage) = Stage::new(script).await else { return };
    let check_of_work = format!("verify = '''echo x >> checking; {}'''", wait_for_file("checked"));
    stage.sandbox.write("team.toml", TEAM.replace(r#"verify = "test -s effects""#, &check_of_work));
    stage.sandbox.write("go", "");
    let _worker = stage.worker_with("a", &["--lease", "60s"]).await;
    let team = stage.team(&FRESH);
    let checks = || stage.sandbox.exists("checking").then(|| stage.sandbox.read("checking").lines().count());
    until("both checks", || checks().filter(|checks| *checks == 2)).await;
    stage.nats.kill();
    stage.sandbox.write("checked", "");
    tokio::time::sleep(std::time::Duration::from_secs(26)).await;
    stage.nats.start_again().await;
    let finished = end(team).await;
    check(&stage, &finished);
    assert!(finished.stderr.contains("Trying again; the agent goes on."), "{}", finished.stderr);
    assert!(finished.stderr.contains("it works again"), "{}", finished.stderr);
}
