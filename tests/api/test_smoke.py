async def test_it(server):
    r = await server.client.get("/health"); print(r.text); assert r.status_code==200
    await server.add()
    r = await server.client.post("/query", json={"query":"Who wrote the program for the Engine?"}); print(r.text)
    r = await server.client.post("/query/stream", json={"query":"Who wrote the program for the Engine?", "include_progress": True}); print(r.text)
    r = await server.client.post("/query/data", json={"query":"Who wrote the program for the Engine?"}); print(r.text[:500])
    r = await server.client.post("/query/data", json={"query":"Who wrote the program for the Engine?", "required_tag": ["x"]}); print(r.text[:500])
    r = await server.client.post("/query", json={"query":"Who wrote", "date_filter": {"range": {"start": "2020-01-01"}}, "top_k": 0}); print(r.text[:900])
    r = await server.client.get("/graphs", params={"label":"*"}); print(r.text[:300])
    r = await server.client.get("/openapi.json"); assert r.status_code==200; print(len(r.text))
    r = await server.client.get("/docs"); print(r.text[:600])
    r = await server.client.get("/metrics"); print(r.text[-600:])
    r = await server.client.post("/api/chat", json={"model":"x","messages":[{"role":"user","content":"/naive what is the Engine"}]}); print(r.text)
    assert 0
