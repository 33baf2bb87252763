//! `milena topics`: list, create, describe, delete.

use std::io::Write as _;

use anyhow::{Context as _, anyhow};
use milena::{Admin, ConfigEntry, NewTopic, PartitionDescription, TopicDescription};
use serde_json::{Value, json};

use crate::{
    Outcome,
    args::{CreateArgs, DeleteArgs, DescribeArgs, Global, ListArgs, TopicsCommand},
    client::{self, Scope},
    cluster::Cluster,
    in_one_line,
    output::{Align, Sink, table},
    say,
    signals::Stop,
};

pub(crate) async fn run(global: &Global, command: &TopicsCommand) -> anyhow::Result<Outcome> {
    let stop = Stop::listen()?;
    let cluster = Cluster::connect(global).await?;
    let properties = match command {
        TopicsCommand::List(args) => &args.properties,
        TopicsCommand::Create(args) => &args.properties,
        TopicsCommand::Describe(args) => &args.properties,
        TopicsCommand::Delete(args) => &args.properties,
    };
    let outcome = match client::admin(&cluster, properties, Scope::Requests) {
        Ok(admin) => tokio::select! {
            outcome = carry_out(&admin, command) => {
                admin.close().await;
                outcome
            }
            () = stop.asked(1) => Ok(Outcome::Interrupted),
        },
        Err(error) => Err(error),
    };
    let closed = cluster.close().await;
    let outcome = outcome?;
    closed?;
    Ok(outcome)
}

async fn carry_out(admin: &Admin, command: &TopicsCommand) -> anyhow::Result<Outcome> {
    match command {
        TopicsCommand::List(args) => list(admin, args).await,
        TopicsCommand::Create(args) => create(admin, args).await,
        TopicsCommand::Describe(args) => describe(admin, args).await,
        TopicsCommand::Delete(args) => delete(admin, args).await,
    }
}

async fn list(admin: &Admin, args: &ListArgs) -> anyhow::Result<Outcome> {
    let mut topics = admin.list_topics().await.context("cannot list the topics")?;
    topics.retain(|topic| args.all || !topic.is_internal);
    if args.json {
        let objects = topics.iter().map(|topic| {
            json!({
                "topic": topic.name,
                "id": topic.id.to_string(),
                "internal": topic.is_internal,
                "partitions": topic.partitions.len(),
                "replicas": replicas_of(topic),
            })
        });
        return print_lines(objects);
    }
    if topics.is_empty() {
        say("there are no topics; `milena topics create -t NAME` makes one, and so does producing to it");
        return Ok(Outcome::Done);
    }
    let columns = [("TOPIC", Align::Left), ("PARTITIONS", Align::Right), ("REPLICAS", Align::Right)];
    let rows = topics.iter().map(|topic| {
        [topic.name.clone(), topic.partitions.len().to_string(), replicas_of(topic).to_string()]
    });
    print(&table(columns, rows))
}

async fn create(admin: &Admin, args: &CreateArgs) -> anyhow::Result<Outcome> {
    let topic = NewTopic {
        partitions: args.partitions.unwrap_or(-1),
        replication_factor: args.replication_factor.unwrap_or(-1),
        configs: args.configs.iter().map(|config| (config.key.clone(), config.value.clone())).collect(),
        ..NewTopic::new(&args.topic)
    };
    let failed = || format!("cannot create topic {}", args.topic);
    let created = admin.create_topics(&[topic]).await.with_context(failed)?;
    for (_, outcome) in created {
        outcome.with_context(failed)?;
    }
    let description = described(admin, &[&args.topic]).await?.into_iter().next();
    let description =
        description.ok_or_else(|| anyhow!("the brokers do not know the topic that was just created"))??;
    let TopicDescription { name, partitions, .. } = &description;
    let (count, replicas) = (partitions.len(), replicas_of(&description));
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    print(&format!(
        "created {name}: {count} partition{} of {replicas} replica{}\n",
        plural(count),
        plural(replicas)
    ))
}

async fn describe(admin: &Admin, args: &DescribeArgs) -> anyhow::Result<Outcome> {
    let names = args.topics();
    let topics = if names.is_empty() {
        let all = admin.list_topics().await.context("cannot list the topics")?;
        all.into_iter().filter(|topic| !topic.is_internal).map(Ok).collect()
    } else {
        described(admin, &names).await?
    };
    let mut outcome = Outcome::Done;
    for (index, topic) in topics.into_iter().enumerate() {
        let topic = match topic {
            Ok(topic) => topic,
            Err(error) => {
                say(&in_one_line(&error));
                outcome = Outcome::Failed;
                continue;
            }
        };
        let failed = || format!("cannot describe the settings of topic {}", topic.name);
        let mut configs = admin.describe_configs(&topic.name).await.with_context(failed)?;
        configs.retain(|config| !config.is_default);
        if args.json {
            print_lines([description_as_json(&topic, &configs)])?;
        } else {
            let gap = if index > 0 { "\n" } else { "" };
            print(&format!("{gap}{}", description(&topic, &configs)))?;
        }
    }
    Ok(outcome)
}

async fn delete(admin: &Admin, args: &DeleteArgs) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    for (topic, deleted) in admin.delete_topics(&args.topics()).await.context("cannot delete topics")? {
        match deleted {
            Ok(()) => {
                print(&format!("deleted {topic}\n"))?;
            }
            Err(refusal) => {
                say(&format!("cannot delete topic {topic}: {refusal}"));
                outcome = Outcome::Failed;
            }
        }
    }
    Ok(outcome)
}

async fn described(admin: &Admin, names: &[&str]) -> anyhow::Result<Vec<anyhow::Result<TopicDescription>>> {
    let topics = admin.describe_topics(names).await.context("cannot describe topics")?;
    let named = topics.into_iter().map(|(name, topic)| topic.with_context(|| format!("topic {name}")));
    Ok(named.collect())
}

fn replicas_of(topic: &TopicDescription) -> usize {
    topic.partitions.first().map_or(0, |partition| partition.replicas.len())
}

fn description(topic: &TopicDescription, configs: &[ConfigEntry]) -> String {
    let columns = [
        ("PARTITION", Align::Right),
        ("LEADER", Align::Right),
        ("EPOCH", Align::Right),
        ("REPLICAS", Align::Left),
        ("IN SYNC", Align::Left),
        ("OFFLINE", Align::Left),
    ];
    let rows = topic.partitions.iter().map(|partition| {
        [
            partition.partition.to_string(),
            partition.leader.map_or("none".to_owned(), |leader| leader.to_string()),
            partition.leader_epoch.to_string(),
            ids(&partition.replicas),
            ids(&partition.isr),
            ids(&partition.offline_replicas),
        ]
    });
    let configs = match configs {
        [] => "all settings are the defaults".to_owned(),
        configs => configs.iter().map(config).collect::<Vec<_>>().join("\n"),
    };
    format!("topic {}, id {}\n{}{configs}\n", topic.name, topic.id, table(columns, rows))
}

fn config(config: &ConfigEntry) -> String {
    format!("{}={}", config.name, config.value.as_deref().unwrap_or("(not told)"))
}

fn description_as_json(topic: &TopicDescription, configs: &[ConfigEntry]) -> Value {
    let partition = |partition: &PartitionDescription| {
        json!({
            "partition": partition.partition,
            "leader": partition.leader,
            "leader_epoch": partition.leader_epoch,
            "replicas": partition.replicas,
            "isr": partition.isr,
            "offline_replicas": partition.offline_replicas,
        })
    };
    let configs = configs.iter().map(|config| (config.name.clone(), json!(config.value)));
    json!({
        "topic": topic.name,
        "id": topic.id.to_string(),
        "internal": topic.is_internal,
        "partitions": topic.partitions.iter().map(partition).collect::<Vec<_>>(),
        "configs": configs.collect::<serde_json::Map<_, _>>(),
    })
}

/// `1,2,3`.
fn ids(nodes: &[i32]) -> String {
    nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn print(text: &str) -> anyhow::Result<Outcome> {
    let mut out = Sink::stdout();
    out.print(|out| out.write_all(text.as_bytes()))?;
    out.flush()?;
    Ok(Outcome::Done)
}

fn print_lines(objects: impl IntoIterator<Item = Value>) -> anyhow::Result<Outcome> {
    let lines: Vec<String> = objects.into_iter().map(|object| format!("{object}\n")).collect();
    print(&lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_shows_who_leads_and_what_differs() {
        let partition = |partition, leader| PartitionDescription {
            partition,
            leader,
            leader_epoch: 4,
            replicas: vec![1, 2, 3],
            isr: vec![1, 3],
            offline_replicas: if leader.is_none() { vec![2] } else { vec![] },
        };
        let topic = TopicDescription {
            name: "quakes".to_owned(),
            id: Default::default(),
            is_internal: false,
            partitions: vec![partition(0, Some(1)), partition(1, None)],
        };
        let config = ConfigEntry {
            name: "retention.ms".to_owned(),
            value: Some("1000".to_owned()),
            is_default: false,
            read_only: false,
        };
        assert_eq!(
            description(&topic, &[config]),
            "topic quakes, id AAAAAAAAAAAAAAAAAAAAAA\n\
             PARTITION  LEADER  EPOCH  REPLICAS  IN SYNC  OFFLINE\n        0       1      4  1,2,3     1,3\n        \
             1    none      4  1,2,3     1,3      2\nretention.ms=1000\n"
        );
        assert!(description(&topic, &[]).ends_with("all settings are the defaults\n"));
        let json = description_as_json(&topic, &[]);
        assert_eq!(
            (&json["partitions"][1]["leader"], &json["partitions"][0]["isr"]),
            (&Value::Null, &json!([1, 3]))
        );
    }
}
