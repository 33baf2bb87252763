//! Consumer groups over real sockets.

mod support;

#[allow(clippy::unwrap_used)]
mod groups {
    use std::collections::BTreeMap;

    use milena_broker::EmbeddedCluster;
    use milena_protocol::messages::offset_commit_request::{
        OffsetCommitRequestPartition, OffsetCommitRequestTopic,
    };
    use milena_protocol::messages::offset_fetch_request::{
        OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
    };
    use milena_protocol::messages::{
        DeleteGroupsRequest, DescribeGroupsRequest, HeartbeatRequest, JoinGroupRequest,
        JoinGroupRequestProtocol, JoinGroupResponse, LeaveGroupRequest, ListGroupsRequest, MemberIdentity,
        OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest, SyncGroupRequestAssignment,
    };
    use milena_protocol::{ApiKey, ErrorCode, Uuid};

    use super::support::{Client, start};

    fn join(member_id: &str) -> JoinGroupRequest {
        JoinGroupRequest {
            group_id: "g".to_owned(),
            session_timeout_ms: 30_000,
            rebalance_timeout_ms: 60_000,
            member_id: member_id.to_owned(),
            protocol_type: "consumer".to_owned(),
            protocols: vec![JoinGroupRequestProtocol { name: "range".to_owned(), metadata: "m".into() }],
            ..Default::default()
        }
    }

    /// Joins as a client of today does: once for the id, once with it.
    async fn become_member(client: &mut Client) -> JoinGroupResponse {
        client.coordinator("g").await;
        let told = client.call(9, &join("")).await;
        assert_eq!(told.error_code, ErrorCode::MEMBER_ID_REQUIRED);
        client.call(9, &join(&told.member_id)).await
    }

    /// Joins as the only member, and assigns itself something.
    async fn become_stable(client: &mut Client) -> JoinGroupResponse {
        let member = become_member(client).await;
        let assignment =
            SyncGroupRequestAssignment { member_id: member.member_id.clone(), assignment: "all".into() };
        let sync = SyncGroupRequest {
            group_id: "g".to_owned(),
            generation_id: member.generation_id,
            member_id: member.member_id.clone(),
            protocol_type: Some("consumer".to_owned()),
            protocol_name: Some("range".to_owned()),
            assignments: vec![assignment],
            ..Default::default()
        };
        assert_eq!(client.call(5, &sync).await.assignment, "all");
        member
    }

    fn commit(member: &JoinGroupResponse, partitions: &[(i32, i64)]) -> OffsetCommitRequest {
        let partition = |(partition_index, committed_offset): &(i32, i64)| OffsetCommitRequestPartition {
            partition_index: *partition_index,
            committed_offset: *committed_offset,
            committed_metadata: Some("note".to_owned()),
            ..Default::default()
        };
        OffsetCommitRequest {
            group_id: "g".to_owned(),
            generation_id_or_member_epoch: member.generation_id,
            member_id: member.member_id.clone(),
            topics: vec![OffsetCommitRequestTopic {
                name: "t".to_owned(),
                partitions: partitions.iter().map(partition).collect(),
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    async fn committed(client: &mut Client, partition: i32) -> (i64, String) {
        let topic = OffsetFetchRequestTopic { name: "t".to_owned(), partition_indexes: vec![partition] };
        let request =
            OffsetFetchRequest { group_id: "g".to_owned(), topics: Some(vec![topic]), ..Default::default() };
        let answer = client.call(7, &request).await.topics[0].partitions[0].clone();
        assert_eq!(answer.error_code, ErrorCode::NONE);
        (answer.committed_offset, answer.metadata.unwrap())
    }

    #[tokio::test]
    async fn a_group_shares_a_topic_and_remembers_its_offsets() {
        let dir = tempfile::tempdir().unwrap();
        let broker = start(dir.path()).await;
        let (mut one, mut two) = (Client::to(&broker).await, Client::to(&broker).await);
        one.create_topic("t", 2, &[]).await;
        let leader = become_member(&mut one).await;
        assert_eq!((leader.generation_id, &leader.leader), (1, &leader.member_id));

        // The second member's join waits until the first has joined again.
        let told = two.call(9, &join("")).await;
        let waiting = two.send(9, &join(&told.member_id)).await;
        let heartbeat = |member: &JoinGroupResponse| HeartbeatRequest {
            group_id: "g".to_owned(),
            generation_id: member.generation_id,
            member_id: member.member_id.clone(),
            ..Default::default()
        };
        while one.call(4, &heartbeat(&leader)).await.error_code != ErrorCode::REBALANCE_IN_PROGRESS {}
        let leader = one.call(9, &join(&leader.member_id)).await;
        let (answered, follower) = two.receive::<JoinGroupResponse>(ApiKey::JoinGroup, 9).await;
        assert_eq!((answered, follower.generation_id, leader.generation_id), (waiting, 2, 2));
        assert_eq!((leader.members.len(), follower.members.len()), (2, 0));

        let assign = |member: &JoinGroupResponse, to: &'static str| SyncGroupRequestAssignment {
            member_id: member.member_id.clone(),
            assignment: to.into(),
        };
        let sync = |member: &JoinGroupResponse, assignments| SyncGroupRequest {
            group_id: "g".to_owned(),
            generation_id: 2,
            member_id: member.member_id.clone(),
            protocol_type: Some("consumer".to_owned()),
            protocol_name: Some("range".to_owned()),
            assignments,
            ..Default::default()
        };
        let assignments = vec![assign(&leader, "first"), assign(&follower, "second")];
        assert_eq!(one.call(5, &sync(&leader, assignments)).await.assignment, "first");
        assert_eq!(two.call(5, &sync(&follower, Vec::new())).await.assignment, "second");
        assert_eq!(two.call(4, &heartbeat(&follower)).await.error_code, ErrorCode::NONE);

        assert_eq!(committed(&mut one, 0).await, (-1, String::new()));
        let response = one.call(8, &commit(&leader, &[(0, 7), (9, 1)])).await;
        let codes: Vec<_> = response.topics[0].partitions.iter().map(|p| p.error_code).collect();
        assert_eq!(codes, [ErrorCode::NONE, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION]);
        let stale = JoinGroupResponse { generation_id: 1, ..leader.clone() };
        let response = one.call(8, &commit(&stale, &[(0, 1)])).await;
        assert_eq!(response.topics[0].partitions[0].error_code, ErrorCode::ILLEGAL_GENERATION);
        assert_eq!(committed(&mut two, 0).await, (7, "note".to_owned()));

        let described =
            one.call(5, &DescribeGroupsRequest { groups: vec!["g".to_owned()], ..Default::default() }).await;
        let group = &described.groups[0];
        assert_eq!((group.group_state.as_str(), group.members.len()), ("Stable", 2));
        assert_eq!(group.members[0].client_id, "test");
        let delete = DeleteGroupsRequest { groups_names: vec!["g".to_owned()] };
        assert_eq!(one.call(2, &delete).await.results[0].error_code, ErrorCode::NON_EMPTY_GROUP);

        let leave = |member: &JoinGroupResponse| LeaveGroupRequest {
            group_id: "g".to_owned(),
            members: vec![MemberIdentity { member_id: member.member_id.clone(), ..Default::default() }],
            ..Default::default()
        };
        for member in [&leader, &follower] {
            assert_eq!(one.call(5, &leave(member)).await.members[0].error_code, ErrorCode::NONE);
        }

        // The offsets outlive the members, and the broker.
        drop(broker);
        let broker = start(dir.path()).await;
        let mut client = Client::to(&broker).await;
        assert_eq!(committed(&mut client, 0).await, (7, "note".to_owned()));
        let listed = client.call(5, &ListGroupsRequest::default()).await;
        let listed: Vec<_> =
            listed.groups.iter().map(|g| (g.group_id.as_str(), g.group_state.as_str())).collect();
        assert_eq!(listed, [("g", "Empty")]);
        assert_eq!(client.call(2, &delete).await.results[0].error_code, ErrorCode::NONE);
        assert_eq!(committed(&mut client, 0).await.0, -1);
    }

    #[tokio::test]
    async fn offsets_are_committed_and_fetched_in_every_version() {
        let dir = tempfile::tempdir().unwrap();
        let broker = start(dir.path()).await;
        let mut client = Client::to(&broker).await;
        client.create_topic("t", 1, &[]).await;
        let id = client.metadata(&["t"]).await.topics[0].topic_id;
        client.coordinator("g").await;
        // Nobody is a member, and none is needed.
        let nobody = JoinGroupResponse { generation_id: -1, ..Default::default() };
        for version in 2..=10 {
            let mut request = commit(&nobody, &[(0, i64::from(version))]);
            if version >= 10 {
                request.topics[0].topic_id = id;
                request.topics[0].name = String::new();
            }
            let response = client.call(version, &request).await;
            assert_eq!(response.topics[0].partitions[0].error_code, ErrorCode::NONE, "version {version}");
            assert_eq!(committed(&mut client, 0).await.0, i64::from(version));
        }
        for version in 8..=10 {
            let topic = OffsetFetchRequestTopics {
                name: if version < 10 { "t".to_owned() } else { String::new() },
                topic_id: if version < 10 { Uuid::ZERO } else { id },
                partition_indexes: vec![0],
            };
            for topics in [Some(vec![topic]), None] {
                let group = OffsetFetchRequestGroup {
                    group_id: "g".to_owned(),
                    member_id: None,
                    member_epoch: -1,
                    topics,
                };
                let request = OffsetFetchRequest { groups: vec![group], ..Default::default() };
                let response = client.call(version, &request).await;
                let partition = &response.groups[0].topics[0].partitions[0];
                assert_eq!((partition.error_code, partition.committed_offset), (ErrorCode::NONE, 10));
            }
        }
    }

    /// A client of each broker of a cluster.
    async fn clients(cluster: &EmbeddedCluster) -> BTreeMap<i32, Client> {
        let mut clients = BTreeMap::new();
        let addresses: Vec<String> = cluster.bootstrap().split(',').map(str::to_owned).collect();
        for id in cluster.running() {
            let address = addresses[usize::try_from(id - 1).unwrap()].parse().unwrap();
            clients.insert(id, Client::connect(address).await);
        }
        clients
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn another_coordinator_knows_the_offsets_when_the_first_is_killed() {
        let cluster = EmbeddedCluster::builder().brokers(3).start().await.unwrap();
        cluster.create_topic("t", 1, 3).await.unwrap();
        let mut clients = clients(&cluster).await;
        let first = clients.get_mut(&1).unwrap().coordinator("g").await;
        let member = become_stable(clients.get_mut(&first).unwrap()).await;
        for (id, client) in &mut clients {
            let code = client.call(8, &commit(&member, &[(0, 7)])).await.topics[0].partitions[0].error_code;
            let expected = if *id == first { ErrorCode::NONE } else { ErrorCode::NOT_COORDINATOR };
            assert_eq!(code, expected, "{id}");
            assert_eq!(client.coordinator("g").await, first);
        }

        // A second member waits for the first, and hears that it waits in vain.
        let second = clients.get_mut(&first).unwrap();
        let told = second.call(9, &join("")).await;
        second.send(9, &join(&told.member_id)).await;
        cluster.stop(first).await.unwrap();
        let (_, answer) = second.receive::<JoinGroupResponse>(ApiKey::JoinGroup, 9).await;
        assert_eq!(answer.error_code, ErrorCode::NOT_COORDINATOR);

        clients.remove(&first);
        let other = clients.values_mut().next().unwrap();
        let next = loop {
            let next = other.coordinator("g").await;
            if next != first {
                break next;
            }
        };
        let client = clients.get_mut(&next).unwrap();
        let topic = OffsetFetchRequestTopic { name: "t".to_owned(), partition_indexes: vec![0] };
        let fetch =
            OffsetFetchRequest { group_id: "g".to_owned(), topics: Some(vec![topic]), ..Default::default() };
        let partition = loop {
            let response = client.call(7, &fetch).await;
            match response.error_code {
                ErrorCode::NONE => break response.topics[0].partitions[0].clone(),
                // It has not heard yet that it leads, or it reads.
                ErrorCode::NOT_COORDINATOR | ErrorCode::COORDINATOR_LOAD_IN_PROGRESS => {}
                code => panic!("{code}"),
            }
        };
        assert_eq!(partition.committed_offset, 7);
        let stale = client.call(8, &commit(&member, &[(0, 8)])).await;
        assert_eq!(stale.topics[0].partitions[0].error_code, ErrorCode::ILLEGAL_GENERATION);
        let again = become_stable(client).await;
        let committed = client.call(8, &commit(&again, &[(0, 8)])).await;
        assert_eq!(committed.topics[0].partitions[0].error_code, ErrorCode::NONE);

        // What comes back is led by somebody else for good, and told so.
        cluster.restart(first).await.unwrap();
        let mut clients = self::clients(&cluster).await;
        assert_eq!(clients.get_mut(&first).unwrap().coordinator("g").await, next);
        let answer = clients.get_mut(&first).unwrap().call(7, &fetch).await;
        assert_eq!(answer.error_code, ErrorCode::NOT_COORDINATOR);
        cluster.shutdown().await.unwrap();
    }
}
