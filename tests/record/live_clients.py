#!/usr/bin/env python3
"""Real clients, unmodified: each runs directly and through `isoscope record`, and must print the same.

    tests/record/live_clients.py build/isoscope [CLIENT]

Starts a private PostgreSQL server on loopback in a temporary folder. Ends with 2 where PostgreSQL is
not installed; clients that are not installed are named and left out.
"""
import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

ISOSCOPE = os.path.abspath(sys.argv[1])
SCHEMA = """
CREATE TABLE owner (id int PRIMARY KEY, name text UNIQUE);
CREATE TABLE pet (id int PRIMARY KEY, name text, owner_id int REFERENCES owner, age int DEFAULT 1);
INSERT INTO owner VALUES (1, 'ann'), (2, 'bob');
INSERT INTO pet VALUES (1, 'rex', 1, 3), (2, 'tom', 1, 5), (3, 'kit', 2, 1);
"""

PSYCOPG2 = """
import os, psycopg2
c = psycopg2.connect(os.environ["DATABASE_URL"])
k = c.cursor()
k.execute("SELECT name, age FROM pet WHERE owner_id = %s ORDER BY id", (1,)); print(k.fetchall())
k.execute("UPDATE pet SET age = age + 1 WHERE id = %s RETURNING age", (1,)); print(k.fetchone())
k.execute("SELECT o.name, count(p.id) FROM owner o LEFT JOIN pet p ON p.owner_id = o.id GROUP BY 1 ORDER BY 1")
print(k.fetchall(), k.description[0].name)
c.commit()
n = c.cursor("walk"); n.itersize = 1
n.execute("SELECT id, name FROM pet ORDER BY id"); print([r for r in n]); n.close(); c.commit()
try:
    k.execute("INSERT INTO owner VALUES (3, 'ann')")
except psycopg2.Error as e:
    print(e.pgcode, e.pgerror.splitlines()[0]); c.rollback()
try:
    k.execute("SELECT nothing FROM pet WHERE id = 1")
except psycopg2.Error as e:
    print(e.pgcode, e.pgerror); c.rollback()
import io
k.copy_expert("COPY pet FROM STDIN", io.StringIO("4\\tann's\\t2\\t7\\n")); print(k.rowcount)
k.execute("SELECT * FROM pet WHERE id = 4"); print(k.fetchall()); c.commit()
"""
SQLALCHEMY = """
import os
from sqlalchemy import *
from sqlalchemy.orm import *
B = declarative_base()
class Owner(B):
    __tablename__ = "owner"
    id = Column(Integer, primary_key=True); name = Column(String)
    pets = relationship("Pet", order_by="Pet.id")
class Pet(B):
    __tablename__ = "pet"
    id = Column(Integer, primary_key=True); name = Column(String); age = Column(Integer)
    owner_id = Column(Integer, ForeignKey("owner.id"))
e = create_engine(os.environ["DATABASE_URL"])
with Session(e) as s:
    for o in s.query(Owner).options(joinedload(Owner.pets)).order_by(Owner.id): print(o.name, [p.name for p in o.pets])
    for o in s.query(Owner).options(selectinload(Owner.pets)).order_by(Owner.id): print(o.name, len(o.pets))
    p = s.get(Pet, 1, with_for_update=True); p.age += 1; s.commit(); print(p.age)
    s.add(Pet(id=9, name="new", owner_id=2, age=0)); s.flush(); s.rollback()
    print(s.query(func.count(Pet.id), func.max(Pet.age)).one())
    print(s.query(exists().where(Pet.owner_id == 2)).scalar())
"""
DJANGO = """
import os, sys, types, django
app = types.ModuleType("a"); app.__path__ = [os.getcwd()]; sys.modules["a"] = app
from django.conf import settings
settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"],
  "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"]}}, USE_TZ=True,
  INSTALLED_APPS=["a"])
django.setup()
from django.db import models, transaction, IntegrityError
from django.db.models import F, Count
class Owner(models.Model):
    id = models.IntegerField(primary_key=True); name = models.TextField(unique=True)
    class Meta: app_label = "a"; db_table = "owner"
class Pet(models.Model):
    id = models.IntegerField(primary_key=True); name = models.TextField(); age = models.IntegerField(default=1)
    owner = models.ForeignKey(Owner, models.CASCADE, related_name="pets")
    class Meta: app_label = "a"; db_table = "pet"
print(list(Pet.objects.filter(owner__name="ann").values_list("name", "age").order_by("id")))
print(list(Owner.objects.annotate(n=Count("pets")).values_list("name", "n").order_by("id")))
Pet.objects.filter(id=1).update(age=F("age") + 1)
with transaction.atomic():
    p = Pet.objects.select_for_update().get(id=2); p.age += 1; p.save()
print(Owner.objects.get_or_create(id=7, defaults={"name": "eve"})[1], Owner.objects.get_or_create(id=7, defaults={"name": "eve"})[1])
try:
    with transaction.atomic(): Owner.objects.create(id=8, name="eve")
except IntegrityError as e: print(type(e).__name__)
Pet.objects.bulk_create([Pet(id=i, name=str(i), owner_id=7) for i in (11, 12, 13)])
print([ (o.name, [p.id for p in o.pets.all()]) for o in Owner.objects.prefetch_related("pets").order_by("id")])
print(Pet.objects.filter(owner_id=7).exists(), Pet.objects.order_by("-age").first().id)
print(Owner.objects.filter(id=7).delete())
print(list(Pet.objects.values_list("id", "age").order_by("id").iterator()))
"""
ASYNCPG = """
import asyncio, asyncpg, os
async def main():
    c = await asyncpg.connect(os.environ["DATABASE_URL"])
    print(await c.fetch("SELECT name, age FROM pet WHERE age > $1 ORDER BY id", 1))
    s = await c.prepare("SELECT name FROM owner WHERE id = $1")
    print([await s.fetchval(i) for i in (1, 2, 3)])
    async with c.transaction():
        print([r["id"] async for r in c.cursor("SELECT id FROM pet ORDER BY id", prefetch=1)])
        await c.execute("UPDATE pet SET age = $2 WHERE id = $1", 3, 8)
    try:
        async with c.transaction(isolation="serializable"):
            await c.execute("INSERT INTO owner VALUES ($1, $2)", 1, "x")
    except asyncpg.UniqueViolationError as e: print(e.sqlstate)
    print(await c.executemany("INSERT INTO pet VALUES ($1, $2, $3)", [(21, "a", 1), (22, "b", 2)]))
    print(await c.fetchrow("SELECT count(*), sum(age) FROM pet"))
    await c.close()
asyncio.run(main())
"""
JDBC = """
import java.sql.*;
public class T {
  static void show(ResultSet r) throws SQLException {
    int n = r.getMetaData().getColumnCount();
    while (r.next()) { StringBuilder b = new StringBuilder(); for (int i = 1; i <= n; i++) b.append(r.getString(i)).append(' '); System.out.println(b); }
  }
  public static void main(String[] a) throws Exception {
    String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE") + "?prepareThreshold=2&sslmode=disable";
    Connection c = DriverManager.getConnection(url, System.getenv("PGUSER"), "");
    PreparedStatement p = c.prepareStatement("SELECT name, age FROM pet WHERE owner_id = ? ORDER BY id");
    for (int i = 0; i < 4; i++) { p.setInt(1, 1 + i % 2); show(p.executeQuery()); }
    c.setAutoCommit(false);
    Statement s = c.createStatement(); s.setFetchSize(1);
    show(s.executeQuery("SELECT id FROM pet ORDER BY id"));
    PreparedStatement u = c.prepareStatement("UPDATE pet SET age = age + ? WHERE id = ?");
    for (int i = 1; i <= 3; i++) { u.setInt(1, i); u.setInt(2, i); u.addBatch(); }
    System.out.println(java.util.Arrays.toString(u.executeBatch())); c.commit();
    try { s.execute("INSERT INTO owner VALUES (5, 'ann')"); } catch (SQLException e) { System.out.println(e.getSQLState()); c.rollback(); }
    show(s.executeQuery("SELECT id, age FROM pet ORDER BY id")); c.commit(); c.close();
  }
}
"""
PSQL = r"""
\set FETCH_COUNT 2
SELECT * FROM pet ORDER BY id;
\unset FETCH_COUNT
BEGIN; SAVEPOINT a; UPDATE pet SET age = 0; ROLLBACK TO a; SELECT sum(age) FROM pet; COMMIT;
SELECT p.name FROM pet p WHERE EXISTS (SELECT 1 FROM owner o WHERE o.id = p.owner_id AND o.name = 'bob');
SELECT 1 \gdesc
WITH old AS (SELECT * FROM pet WHERE age > 2) SELECT name FROM old UNION SELECT name FROM owner ORDER BY 1;
INSERT INTO owner VALUES (1, 'x') ON CONFLICT DO NOTHING;
INSERT INTO owner VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = excluded.name || owner.name RETURNING name;
COPY pet TO STDOUT;
SELECT * FROM nowhere WHERE id = 1;
"""


def python_with(module):
    for python in ("python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


def clients(folder):
    def script(name, text):
        path = os.path.join(folder, name)
        with open(path, "w") as out:
            out.write(textwrap.dedent(text).lstrip())
        return path

    yield "psql", [shutil.which("psql"), "-XAq", "-f", script("t.sql", PSQL)]
    for module, text in (("psycopg2", PSYCOPG2), ("sqlalchemy", SQLALCHEMY), ("django", DJANGO), ("asyncpg", ASYNCPG)):
        python = python_with(module)
        yield module, [python, script(module + "_t.py", text)] if python else [None]
    for protocol in ("simple", "extended", "prepared"):
        bench = (
            "\\set id random(1, 3)\nBEGIN;\nSELECT age FROM pet WHERE id = :id;\n"
            "UPDATE pet SET age = age + 1 WHERE id = :id;\nEND;\n"
        )
        path = script("bench.sql", bench)
        yield "pgbench -M " + protocol, [
            "sh", "-c",
            f"{glob.glob('/usr/lib/postgresql/*/bin/pgbench')[-1]} -n -M {protocol} -t 50 --random-seed=7 -f {path} 2>&1"
            " | grep -E 'processed|failed' && psql -XAtc 'SELECT id, age FROM pet ORDER BY id'",
        ]
    jar = glob.glob("/usr/share/java/postgresql.jar")
    java = shutil.which("java")
    yield "jdbc", [java, "-cp", jar[0], script("T.java", JDBC)] if java and jar else [None]


def main():
    servers = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not servers:
        print("PostgreSQL is not installed")
        return 2
    bin_folder = servers[-1]
    work = tempfile.mkdtemp()
    prefix = []
    if os.getuid() == 0:
        prefix = ["setpriv", "--reuid", "nobody", "--clear-groups"]
        shutil.chown(work, "nobody")
        os.chmod(work, 0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = os.path.join(work, "data")
    subprocess.run(prefix + [bin_folder + "/initdb", "-D", data, "-U", "app", "-A", "trust", "--no-sync"],
                   check=True, stdout=subprocess.DEVNULL, cwd=work)
    server = subprocess.Popen(
        prefix + [bin_folder + "/postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
                  "-c", "unix_socket_directories=" + work, "-c", "wal_level=logical", "-c", "fsync=off",
                  "-c", "temp_file_limit=100MB"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=work)
    env = dict(os.environ, PGHOST="127.0.0.1", PGPORT=str(port), PGUSER="app", PYTHONDONTWRITEBYTECODE="1")
    failures = 0
    try:
        for _ in range(200):
            if subprocess.run([bin_folder + "/pg_isready", "-q"], env=env).returncode == 0:
                break
            time.sleep(0.1)
        scripts = tempfile.mkdtemp(dir=work)
        for name, command in clients(scripts):
            if len(sys.argv) > 2 and name != sys.argv[2]:
                continue
            if command[0] is None:
                print(f"{name}: not installed")
                continue
            outputs = []
            for through in (False, True):
                database = "app"
                run_env = dict(env, PGDATABASE=database,
                               DATABASE_URL=f"postgresql://app@127.0.0.1:{port}/{database}")
                for sql in (f"DROP DATABASE IF EXISTS {database}", f"CREATE DATABASE {database}"):
                    subprocess.run(["psql", "-qX", "-d", "postgres", "-c", sql], env=env, check=True,
                                   stderr=subprocess.DEVNULL)
                subprocess.run(["psql", "-qX", "-c", SCHEMA], env=run_env, check=True)
                full = command
                run_file = os.path.join(work, "run.jsonl")
                if through:
                    dsn = f"host=127.0.0.1 port={port} user=app dbname={database}"
                    full = [ISOSCOPE, "record", "--dsn", dsn, "-o", run_file, "--"] + command
                ran = subprocess.run(full, env=run_env, capture_output=True, text=True, timeout=120)
                rows = subprocess.run(["psql", "-XAtc", "TABLE owner", "-c", "TABLE pet"], env=run_env,
                                      capture_output=True, text=True)
                outputs.append((ran.stdout.partition("recorded ")[0], ran.stderr, sorted(rows.stdout.splitlines()),
                                ran.returncode))
                if through:
                    told = "recorded " + ran.stdout.partition("recorded ")[2]
            if outputs[0] == outputs[1] and told.count("understood"):
                print(f"{name}: the same;", told.splitlines()[1])
                for line in told.splitlines()[2:]:
                    print("   ", line)
            else:
                failures += 1
                print(f"{name}: DIFFERS\n--- directly\n{outputs[0]}\n--- recorded\n{outputs[1]}\n{told}")
    finally:
        server.send_signal(2)
        server.wait()
        shutil.rmtree(work, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
