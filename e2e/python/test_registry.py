"""A published client of the OCI distribution specification, against the platform's registry with the deployment's push token."""

import hashlib
import os

import httpx
import oras.client
import oras.oci
import pytest

PLATFORM = os.environ["RUNYARD_PLATFORM_URL"]


@pytest.fixture
def platform(api_key):
    with httpx.Client(base_url=PLATFORM, headers={"x-api-key": api_key}, timeout=30) as client:
        yield client


@pytest.fixture
def deployments(platform, mark):
    """Makes deployments that take images: where they are pushed to, and the password for it."""
    made = []

    def make():
        body = {"name": f"images-{len(made)}-{mark}", "source": "internal_docker", "source_revision_config": {}}
        created = platform.post("/v2/deployments", json={**body, "source_config": {"deployment_type": "dev"}})
        assert created.status_code == 201, created.text
        made.append(created.json()["id"])
        return platform.post(f"/v2/deployments/{made[-1]}/push-token").json()

    yield make
    platform.request("DELETE", "/v2/deployments", params={"deployment_ids": made}).raise_for_status()


@pytest.fixture
def deployment(deployments):
    return deployments()


@pytest.fixture
def image(deployment):
    return f"{deployment['registry_url']}/agent:v1"


def registry(password):
    client = oras.client.OrasClient(insecure=True)
    client.auth.set_basic_auth("oauth2accesstoken", password)
    return client


@pytest.fixture
def client(deployment):
    return registry(deployment["token"])


@pytest.fixture
def layers(tmp_path):
    """Files of several sizes, one of which has nothing in it."""
    for name, size in (("small", 100), ("large", 300_000), ("none", 0)):
        (tmp_path / name).write_bytes(os.urandom(size))
    return tmp_path


def sha256(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def push(client, image, layers, **more):
    files = [str(layers / name) for name in ("small", "large")]
    client.push(target=image, files=files, disable_path_validation=True, **more)


def test_an_image_is_pushed_and_pulled_back_as_it_was(client, image, layers, tmp_path):
    push(client, image, layers)
    pulled = client.pull(target=image, outdir=str(tmp_path / "pulled"))
    for path in pulled:
        name = os.path.basename(path)
        assert (tmp_path / "pulled" / name).read_bytes() == (layers / name).read_bytes()
    assert len(pulled) == 2


def test_an_image_is_read_by_its_tag_and_its_digest(client, image, layers):
    push(client, image, layers)
    container = client.get_container(image)
    answer = client.do_request(f"http://{container.manifest_url()}", "GET")
    digest = answer.headers["docker-content-digest"]
    assert digest == sha256(answer.content)
    repository = image.rsplit(":", 1)[0]
    assert client.get_manifest(f"{repository}@{digest}") == client.get_manifest(image) == answer.json()


def test_a_layer_is_pushed_in_pieces(client, image, layers):
    content = (layers / "large").read_bytes()
    layer = {"digest": sha256(content), "size": len(content), "mediaType": "application/octet-stream"}
    answer = client.upload_blob(str(layers / "large"), image, layer, do_chunked=True, chunk_size=100_000)
    assert answer.status_code == 201
    assert client.get_blob(image, layer["digest"]).content == content
    head = client.get_blob(image, layer["digest"], head=True)
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(content)))


def test_a_layer_of_nothing_is_a_layer(client, image, layers):
    layer = {"digest": sha256(b""), "size": 0, "mediaType": "application/octet-stream"}
    assert client.upload_blob(str(layers / "none"), image, layer).status_code == 201
    assert client.get_blob(image, layer["digest"]).content == b""


def test_an_image_is_pushed_again_and_under_more_tags(client, image, layers):
    repository = image.rsplit(":", 1)[0]
    for tag in ("v1", "v1", "v2", "v10"):
        push(client, f"{repository}:{tag}", layers)
    assert sorted(client.get_tags(image)) == ["v1", "v10", "v2"]
    assert client.get_tags(image, N=2) == client.get_tags(image)[:2]


def test_a_layer_is_mounted_from_another_image_of_the_deployment(client, image, layers):
    push(client, image, layers)
    digest = sha256((layers / "large").read_bytes())
    container = client.get_container(image.replace("/agent:", "/other:"))
    source = client.get_container(image)
    url = f"http://{container.upload_blob_url()}?mount={digest}&from={source.api_prefix}"
    answer = client.do_request(url, "POST")
    assert (answer.status_code, answer.headers["docker-content-digest"]) == (201, digest)
    elsewhere = client.do_request(url.replace(digest, sha256(b"nowhere")), "POST")
    assert elsewhere.status_code == 202


def test_what_says_something_of_an_image_is_pushed_with_it_as_its_subject(client, image, layers):
    push(client, image, layers)
    container = client.get_container(image)
    manifest = client.do_request(f"http://{container.manifest_url()}", "GET")
    digest = manifest.headers["docker-content-digest"]
    subject = oras.oci.Subject(manifest.headers["content-type"], digest, len(manifest.content))
    push(client, image.replace(":v1", ":signature"), layers, subject=subject)
    listed = client.do_request(f"http://{container.registry}/v2/{container.api_prefix}/referrers/{digest}", "GET")
    [descriptor] = listed.json()["manifests"]
    signature = client.get_manifest(image.replace(":v1", ":signature"))
    assert signature["subject"]["digest"] == digest
    assert client.get_manifest(image.replace(":v1", f"@{descriptor['digest']}")) == signature


def test_an_image_is_deleted_with_its_layers_and_the_others_stay(client, image, layers):
    other = image.replace(":v1", ":v2")
    push(client, image, layers)
    client.push(target=other, files=[str(layers / "small")], disable_path_validation=True)
    assert client.delete_tag(image, "v1")
    assert client.get_tags(image) == ["v2"]
    assert client.do_request(f"http://{client.get_container(image).manifest_url()}", "HEAD").status_code == 404
    for name, status in (("large", 404), ("small", 200)):
        digest = sha256((layers / name).read_bytes())
        assert client.get_blob(other, digest, head=True).status_code == status
    assert not client.delete_tag(image, "v1")


def test_a_password_that_is_none_is_refused(image, layers, monkeypatch):
    # The client tries again over two minutes whatever the answer was.
    monkeypatch.setattr("oras.decorator.time.sleep", lambda _seconds: None)
    with pytest.raises(Exception, match="401|[Uu]nauthorized|authenticat"):
        push(registry("not-a-token"), image, layers)


def test_the_images_of_another_deployment_are_not_for_a_password_of_this_one(client, deployments, layers):
    other = deployments()
    image = f"{other['registry_url']}/agent:v1"
    push(registry(other["token"]), image, layers)
    with pytest.raises(Exception, match="403|[Ff]orbidden|not for that"):
        client.get_manifest(image)
