def test_smoke(house, client):
    hit = house.hit()
    print(client.get_hit(HITId=hit))
    a = house.work(hit, "A1")
    print(client.list_assignments_for_hit(HITId=hit))
    client.approve_assignment(AssignmentId=a)
    print(client.get_account_balance())
    r = house.page("GET", f"/mturk/accept?hitId={hit}&workerId=A2")
    print(r.status_code, r.text, r.headers)
